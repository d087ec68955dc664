/**
 * Brings the comment of a pull request, and the check of its newest commit, to what the service says now. What is written, and
 * that people come first, follows from the same rules as for `gate --comment` and `gate --check`.
 */

import type { CommentsConfig } from '../comments-config.ts';
import { checkOf } from '../domain/commit-check.ts';
import { commentText } from '../domain/pull-comment.ts';
import { isListed } from '../domain/repository-list.ts';
import { HostError } from '../hosts/api/host-error.ts';
import type { PullToRead, RemoteRepository } from '../hosts/remote.ts';
import { keepCheck } from '../hosts/writes/keep-check.ts';
import { isThere, keepComment } from '../hosts/writes/keep-comment.ts';
import { markerKey } from '../hosts/writes/marker.ts';
import { CommentedCommits, type CommentedStores } from '../insights/commented-commit.ts';
import { firstResultOf } from '../insights/pull-request.ts';
import { hostWrites } from '../observability/metrics.ts';
import { readChangedFiles, writeChangedFiles } from '../postgres/changed-files.ts';
import { onPostgres } from '../postgres/client.ts';
import type { DuePull, PullSettled } from '../postgres/pull-comments.ts';
import type { Repository } from '../postgres/repositories.ts';
import { HostCodeownersFiles } from './host-codeowners.ts';
import { HostPlaces } from './host-places.ts';

type PullToKeep = Pick<DuePull, 'number' | 'commit' | 'commentedCommit'>;

const nothing = (outcome: string): PullSettled => ({ outcome, isCommented: false });

export class PullKeeper {
  readonly #commits: CommentedCommits;
  readonly #places: HostPlaces;
  readonly #codeowners: HostCodeownersFiles;

  constructor(
    private readonly deps: CommentedStores,
    private readonly config: CommentsConfig,
  ) {
    this.#commits = new CommentedCommits(deps, config.publicUrl);
    this.#places = new HostPlaces(config.hosts, () => deps.clock.now());
    this.#codeowners = new HostCodeownersFiles(deps);
  }

  /** The name of the host on which a repository is, if something is kept there. */
  hostOf(repository: Repository): string | undefined {
    return this.#places.siteOf(repository)?.name;
  }

  /** After a refusal, the next attempt asks for another token. */
  forget(repository: Repository): void {
    this.#places.forget(repository);
  }

  /**
   * Throws a HostError, and what the stores throw.
   *
   * @returns what was done: outcomes of the comment and the check, `not_kept`, `no_results`, or `elsewhere` (on a host without
   *   a credential)
   */
  async keep(repository: Repository, { number, commit, commentedCommit }: PullToKeep): Promise<PullSettled> {
    const { comments, checks } = this.config;
    const { owner, name } = repository;
    const [isCommented, isChecked] = [isListed(comments, owner, name), isListed(checks, owner, name)];
    if (!isCommented && !isChecked) return nothing('not_kept');
    if (this.#places.siteOf(repository) === undefined) return nothing('elsewhere');
    // A webhook names commits of which nothing has arrived, and may never: the host is not asked about them.
    if ((await this.#commits.read(repository, commit)) === null) return nothing('no_results');
    const place = await this.#places.of(repository);
    if (place === undefined) return nothing('elsewhere');
    const { remote } = place;
    await this.#learn([
      () => this.#codeowners.learn(repository, place),
      () => this.#learnFiles(repository, remote, { number, commit }),
    ]);
    const key = markerKey(repository);
    const done: string[] = [];
    let isCommentThere = false;
    if (isCommented) {
      const kept = await keepComment({
        host: remote.comments(number),
        commit,
        key,
        read: async () => {
          const state = await this.#commits.read(repository, commit);
          if (state === null) return null;
          const isWorthOne = state.failures.some(({ verdict }) => verdict !== 'quarantined');
          return { text: commentText(state), isWorthOne };
        },
        wasThere: async () => commentedCommit === commit,
        firstResultAt: () => firstResultOf(this.deps, repository, number, commit),
      });
      done.push(kept);
      isCommentThere = isThere(kept);
    }
    if (isChecked && COMMIT.test(commit)) {
      const kept = await keepCheck(remote.check(commit, key), async () => {
        const state = await this.#commits.read(repository, commit);
        return state && { ...checkOf(state, (verdict) => verdict === 'quarantined'), annotations: [] };
      });
      done.push(`check_${kept}`);
    }
    for (const outcome of done) hostWrites.inc({ outcome });
    return { outcome: done.join(' '), isCommented: isCommentThere };
  }

  /**
   * What no job has sent: who owns tests, and the files of a change with failures. The comment does without, so a refusal is no
   * failure.
   */
  async #learn(questions: readonly (() => Promise<void>)[]): Promise<void> {
    for (const learn of questions)
      try {
        await learn();
      } catch (error) {
        if (!(error instanceof HostError) || error.limitedMs !== undefined) throw error;
        hostWrites.inc({ outcome: 'read_refused' });
      }
  }

  async #learnFiles(repository: Repository, remote: RemoteRepository, pull: PullToRead): Promise<void> {
    const { db, clock } = this.deps;
    const { id: repositoryId } = repository;
    const known = await onPostgres(() => readChangedFiles(db, repositoryId, [pull.commit]));
    if (known.size > 0 || ((await this.#commits.read(repository, pull.commit))?.total ?? 0) === 0) return;
    const paths = await remote.changedFiles(pull);
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
