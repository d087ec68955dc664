/**
 * Brings the comment of a pull request, and the check of its newest commit, to what the service says now. What is written, and
 * that people come first, follows from the same rules as for `gate --comment` and `gate --check`.
 */

import type { CommentsConfig } from '../comments-config.ts';
import { checkOf } from '../domain/commit-check.ts';
import { commentText } from '../domain/pull-comment.ts';
import { isListed } from '../domain/repository-list.ts';
import { changedOnGithub, changedOnGitlab, type PullToRead } from '../host-api/changed-files.ts';
import { GithubChecks } from '../host-api/github-checks.ts';
import { GithubComments } from '../host-api/github-comments.ts';
import { GitlabComments } from '../host-api/gitlab-comments.ts';
import { GitlabStatus } from '../host-api/gitlab-status.ts';
import { HostError } from '../host-api/host-error.ts';
import { keepCheck } from '../host-api/keep-check.ts';
import { keepComment } from '../host-api/keep-comment.ts';
import { markerKey } from '../host-api/marker.ts';
import { CommentedCommits, type CommentedStores } from '../insights/commented-commit.ts';
import { firstResultOf } from '../insights/pull-request.ts';
import { hostWrites } from '../observability/metrics.ts';
import { readChangedFiles, writeChangedFiles } from '../postgres/changed-files.ts';
import { onPostgres } from '../postgres/client.ts';
import type { PullRan } from '../postgres/pull-comments.ts';
import type { Repository } from '../postgres/repositories.ts';
import { HostCodeownersFiles } from './host-codeowners.ts';
import { type HostPlace, HostPlaces } from './host-places.ts';

export class PullKeeper {
  readonly #commits: CommentedCommits;
  readonly #places: HostPlaces;
  readonly #codeowners: HostCodeownersFiles;

  constructor(
    private readonly deps: CommentedStores,
    private readonly config: CommentsConfig,
  ) {
    this.#commits = new CommentedCommits(deps, config.publicUrl);
    this.#places = new HostPlaces(config, () => deps.clock.now());
    this.#codeowners = new HostCodeownersFiles(deps);
  }

  /** After a refusal, the next attempt asks for another token. */
  forget(repository: Repository): void {
    this.#places.forget(repository);
  }

  /**
   * Throws a HostError, and what the stores throw.
   *
   * @returns what was done: outcomes of the comment and the check, `not_kept` or `elsewhere` (on a host without a credential)
   */
  async keep(repository: Repository, { number, commit }: PullRan): Promise<string> {
    const { comments, checks } = this.config;
    const { owner, name } = repository;
    const [isCommented, isChecked] = [isListed(comments, owner, name), isListed(checks, owner, name)];
    if (!isCommented && !isChecked) return 'not_kept';
    const place = await this.#places.of(repository);
    if (place === undefined) return 'elsewhere';
    await this.#learn(repository, place, { number, commit });
    const key = markerKey(repository);
    const done: string[] = [];
    if (isCommented) {
      const kept = await keepComment({
        host: commentsAt(place, number),
        commit,
        key,
        read: async () => {
          const state = await this.#commits.read(repository, commit);
          if (state === null) return null;
          const isWorthOne = state.failures.some(({ verdict }) => verdict !== 'quarantined');
          return { text: commentText(state), isWorthOne };
        },
        firstResultAt: () => firstResultOf(this.deps, repository, number, commit),
      });
      done.push(kept);
    }
    if (isChecked && COMMIT.test(commit)) {
      const kept = await keepCheck(checksAt(place, commit, key), async () => {
        const state = await this.#commits.read(repository, commit);
        return state && { ...checkOf(state, (verdict) => verdict === 'quarantined'), annotations: [] };
      });
      done.push(`check_${kept}`);
    }
    for (const outcome of done) hostWrites.inc({ outcome });
    return done.join(' ');
  }

  /**
   * What no job has sent: who owns tests, and the files of a change with failures. The comment does without, so a refusal is no
   * failure.
   */
  async #learn(repository: Repository, place: HostPlace, pull: PullToRead): Promise<void> {
    for (const learn of [
      () => this.#codeowners.learn(repository, place),
      () => this.#learnFiles(repository, place, pull),
    ])
      try {
        await learn();
      } catch (error) {
        if (!(error instanceof HostError) || error.limitedMs !== undefined) throw error;
        hostWrites.inc({ outcome: 'read_refused' });
      }
  }

  async #learnFiles(repository: Repository, place: HostPlace, pull: PullToRead): Promise<void> {
    const { db, clock } = this.deps;
    const { id: repositoryId } = repository;
    const known = await onPostgres(() => readChangedFiles(db, repositoryId, [pull.commit]));
    if (known.size > 0 || ((await this.#commits.read(repository, pull.commit))?.total ?? 0) === 0) return;
    const paths = await (place.kind === 'github' ? changedOnGithub(place, pull) : changedOnGitlab(place, pull));
    // As what a job of the pull request sends: they count off the default branch alone.
    const name = { repositoryId, commit: pull.commit };
    if (paths) await writeChangedFiles(db, name, { paths, isConfined: true }, clock.now());
  }
}

/** How long a host asks to be left alone; undefined if it does not. */
export const limitedMsOf = (error: unknown): number | undefined =>
  error instanceof HostError ? error.limitedMs : undefined;

/** Checks are about whole ids. */
const COMMIT = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

const commentsAt = (place: HostPlace, number: number) =>
  place.kind === 'github' ? new GithubComments({ ...place, number }) : new GitlabComments({ ...place, iid: number });

const checksAt = (place: HostPlace, commit: string, key: string) =>
  place.kind === 'github'
    ? new GithubChecks({ ...place, commit, key })
    : new GitlabStatus({ ...place, commit, pipelineId: undefined });
