/** Merge requests of GitLab, and what a pipeline tested. */
import { z } from 'zod';
import { NAME_LENGTH_MAX, PULL_REQUEST_TITLE_LENGTH_MAX } from '../../../domain/limits.ts';
import { pathOf } from '../../run-info.ts';
import { type HostHistory, mergeIn } from '../host.ts';
import { HostRefusal } from '../host-client.ts';
import { dayOf } from '../host-source.ts';
import type { ImportedPullRequest } from '../item.ts';
import type { Subject } from '../past-job.ts';
import { commitSchema, type MergeRequest, mergeRequestSchema, type Pipeline, projectSchema } from './api.ts';
import { requestOfRef } from './names.ts';

/** Asks one by one for those that are updated later. */
const REQUESTS_MAX = 100_000;

/** The fields of a merge request that its pipelines need. */
type Branches = Pick<MergeRequest, 'source_branch' | 'target_branch'>;

export class GitlabMergeRequests {
  readonly #branches = new Map<number, Branches | undefined>();
  readonly #owners = new Map<number, string | undefined>();

  constructor(
    private readonly history: Pick<HostHistory, 'client' | 'since' | 'until'>,
    /** The path of the project below the address of the API. */
    private readonly base: string,
  ) {}

  /** The requests that were updated since the beginning of the import's time. */
  async *read(): AsyncGenerator<ImportedPullRequest> {
    const { client, since } = this.history;
    const query = new URLSearchParams({
      scope: 'all',
      state: 'all',
      updated_after: new Date(dayOf(since)).toISOString(),
      order_by: 'updated_at',
      sort: 'desc',
      per_page: '100',
    });
    for await (const requests of client.pages(`${this.base}/merge_requests?${query}`, z.array(mergeRequestSchema)))
      for (const request of requests) {
        if (this.#branches.size >= REQUESTS_MAX) return;
        this.#branches.set(request.iid, request);
        yield {
          ...importedOf(request, await this.#ownerOfFork(request)),
          ...mergeIn(this.history, request.merged_at, (request.merge_user ?? request.merged_by)?.username),
        };
      }
  }

  /** The commit and branch that a pipeline tested, as its jobs would have said them (src/client/ci-providers.ts). */
  async subjectOf({ ref, sha }: Pipeline, isTag: boolean): Promise<{ subject: Subject; commit: string }> {
    const of = requestOfRef(ref ?? '');
    const none = { branch: undefined, pullRequest: undefined, baseRef: undefined, defaultBranch: undefined };
    if (!of) return { subject: { ...none, branch: isTag ? undefined : (ref ?? undefined) }, commit: sha };
    const request = await this.#find(of.number);
    return {
      subject: {
        ...none,
        branch: request?.source_branch,
        pullRequest: of.number,
        baseRef: request?.target_branch,
      },
      commit: of.kind === 'merge' ? await this.#headMergedAs(sha) : sha,
    };
  }

  async #find(number: number): Promise<Branches | undefined> {
    if (this.#branches.has(number)) return this.#branches.get(number);
    const found = await this.#ifThere(`${this.base}/merge_requests/${number}`, mergeRequestSchema);
    this.#branches.set(number, found);
    return found;
  }

  /** The second parent of the result of a merge is the head of the merge request. GitLab may have forgotten the result. */
  async #headMergedAs(commit: string): Promise<string> {
    const found = await this.#ifThere(`${this.base}/repository/commits/${commit}`, commitSchema);
    return found?.parent_ids?.[1] ?? commit;
  }

  /** The group of a fork; undefined for a branch of the project itself, and for a fork that is gone. */
  async #ownerOfFork({ source_project_id: source, target_project_id: target }: MergeRequest) {
    if (!source || source === target) return undefined;
    if (!this.#owners.has(source)) {
      const fork = await this.#ifThere(`/projects/${source}`, projectSchema);
      this.#owners.set(source, pathOf(fork?.path_with_namespace).owner);
    }
    return this.#owners.get(source);
  }

  /** Undefined for what is gone, or not for this token. */
  async #ifThere<T>(path: string, schema: z.ZodType<T>): Promise<T | undefined> {
    try {
      return await this.history.client.ask(path, schema);
    } catch (error) {
      if (error instanceof HostRefusal && (error.status === 404 || error.status === 403)) return undefined;
      throw error;
    }
  }
}

/** As its webhook would have told it (src/hosts/gitlab/merge-request.ts). */
function importedOf(request: MergeRequest, ownerOfFork: string | undefined): ImportedPullRequest {
  const isFork = request.source_project_id !== request.target_project_id;
  const fit = (name: string | null | undefined): string | null => name?.slice(0, NAME_LENGTH_MAX) ?? null;
  const forkRef = ownerOfFork === undefined ? null : fit(`${ownerOfFork}:${request.source_branch}`);
  return {
    number: request.iid,
    id: request.id,
    title: request.title.slice(0, PULL_REQUEST_TITLE_LENGTH_MAX),
    author: request.author ? { id: request.author.id, login: request.author.username } : null,
    base_ref: fit(request.target_branch),
    head_ref: isFork ? forkRef : fit(request.source_branch),
    head_commit: request.sha ?? null,
    // A merge without a merge commit leaves the squashed commit or the head on the target branch.
    merge_commit:
      request.state === 'merged'
        ? (request.merge_commit_sha ?? request.squash_commit_sha ?? request.sha ?? null)
        : null,
    updated_at: new Date(request.updated_at).toISOString(),
  };
}
