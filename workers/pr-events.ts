/** Handles `pr-events` jobs: keeps the pull requests and writes their events into the outbox. */
import type { Clock } from '../src/clock.ts';
import { byService } from '../src/domain/audit.ts';
import { shortBranch } from '../src/domain/default-branch.ts';
import { type NewEvent, newEvent } from '../src/domain/events.ts';
import { hostPageSchema } from '../src/domain/host-page.ts';
import { replaceNames } from '../src/domain/pseudonym.ts';
import type { RepositoryName } from '../src/domain/repository-path.ts';
import type { Logger } from '../src/observability/log.ts';
import { type Database, type Executor, onPostgres } from '../src/postgres/client.ts';
import { laterPseudonyms } from '../src/postgres/forgotten-people.ts';
import { recordKeyedEvents } from '../src/postgres/outbox.ts';
import { noteHeads, type PullRan } from '../src/postgres/pull-comments.ts';
import {
  keepPullRequests,
  newestOfBranches,
  noteMerges,
  type PullRequest,
  pullRequestsOf,
} from '../src/postgres/pull-requests.ts';
import type { RepositoryStore } from '../src/postgres/repositories.ts';
import { doerOf } from '../src/postgres/repository-changes.ts';
import {
  type DeletedBranch,
  type PrEventsJob,
  type PullRequestVersion,
  type prEventsSchema,
  readEvent,
} from '../src/queue/pr-events.ts';
import type { Handler } from './consume.ts';
import { mergesOf, recordMerges } from './past-merges.ts';

export interface PrEventsDeps {
  clock: Clock;
  log: Logger;
  db: Database;
  repositories: RepositoryStore;
  retentionDays: number;
  /** Where the service keeps comments: the newest commits of pull requests that change since then are noted. */
  commentedSince?: (() => number) | undefined;
}

/**
 * Returns when every event of the job is in the outbox. If some events are invalid, the others are stored and the job
 * is buried with the reasons: replaying it adds only what is new.
 */
export const prEventsHandler =
  (deps: PrEventsDeps): Handler<typeof prEventsSchema> =>
  async (payload, { queuedAt }) => {
    // It goes with the repository: a job that waits brings nothing deleted back.
    if (await deps.repositories.wasDeletedSince(payload.repository, queuedAt)) return undefined;
    const { events, reasons } = readEvents(payload);
    const replacementOf = await laterPseudonyms(deps.db);
    await record(deps, withoutNames(payload, replacementOf), eventsWithoutNames(events, replacementOf));
    return reasons.length === 0 ? undefined : { buried: reasons.slice(0, REASONS_MAX).join('; ') };
  };

const REASONS_MAX = 10;

type KeyedEvents = { key: string; event: NewEvent }[];

function readEvents(payload: PrEventsJob): { events: KeyedEvents; reasons: string[] } {
  const events: KeyedEvents = [];
  const reasons: string[] = [];
  payload.events.forEach((event, i) => {
    const read = readEvent(event);
    if ('event' in read) events.push({ key: event.key, event: read.event });
    else reasons.push(`event ${i} (${event.key.slice(0, 100)}): ${read.reason}`);
  });
  return { events, reasons };
}

type ReplacementOf = (name: string) => string | undefined;

/** The id of an account leads to its name, so it goes, too. */
function withoutNames(payload: PrEventsJob, replacementOf: ReplacementOf): PrEventsJob {
  return {
    ...payload,
    pull_requests: payload.pull_requests.map((version) => {
      const pseudonym = version.author && replacementOf(version.author.login);
      return {
        ...version,
        ...(pseudonym && { author: { id: 0, login: pseudonym } }),
        ...(version.merged_by && { merged_by: replaceNames(version.merged_by, replacementOf) }),
      };
    }),
    deleted_branches: payload.deleted_branches.map((deleted) => ({
      ...deleted,
      trigger: replaceNames(deleted.trigger, replacementOf),
    })),
  };
}

const eventsWithoutNames = (events: KeyedEvents, replacementOf: ReplacementOf): KeyedEvents =>
  events.map(({ key, event }) => ({
    key,
    event: {
      ...event,
      trigger: replaceNames(event.trigger, replacementOf),
      metadata: replaceNames(event.metadata, replacementOf),
    },
  }));

/** Keeps the pull requests first, in the same transaction: deleted branches are looked up among them. */
async function record(deps: PrEventsDeps, payload: PrEventsJob, events: KeyedEvents): Promise<void> {
  if (payload.renamed_from) await rename(deps, payload.renamed_from, payload.repository);
  const repository = await deps.repositories.record(payload.repository);
  const stated = payload.default_branch ? shortBranch(payload.default_branch) : null;
  if (stated !== null && stated !== repository.defaultBranch && repository.defaultBranchSource !== 'setting')
    await deps.repositories.learnDefaultBranch(repository, stated, 'host');
  const page = hostPageSchema.safeParse({ kind: payload.page_kind, url: payload.page_url });
  if (page.success) await deps.repositories.learnHost(repository, page.data, 'webhook');
  const kept = { retentionDays: deps.retentionDays, eventRetentionDays: repository.eventRetentionDays };
  const merges = mergesOf(payload.pull_requests, kept, deps.clock.now());
  await onPostgres(() =>
    deps.db.transaction(async (tx) => {
      await keepPullRequests(tx, await rowsOf(tx, repository.id, payload.pull_requests));
      if (deps.commentedSince) await noteHeads(tx, repository.id, headsOf(payload, deps.commentedSince()));
      const newest = await newestOfBranches(
        tx,
        repository.id,
        payload.deleted_branches.map(({ branch }) => branch),
      );
      const deletions = payload.deleted_branches.flatMap((deleted) => deletionOf(deleted, newest.get(deleted.branch)));
      await recordKeyedEvents(tx, repository.id, [...events, ...deletions], deps.clock.now());
      await noteMerges(tx, repository.id, mergedBy(events));
      await recordMerges(tx, repository.id, merges, deps.clock.now());
    }),
  );
}

/** Their results may have come before the pull request, or before it had this commit. Of one that has ended, no one reads them. */
function headsOf({ pull_requests: versions, events }: PrEventsJob, since: number): PullRan[] {
  const ended = new Set(events.flatMap(({ type, pull_request: number }) => (ENDS.includes(type) ? [number] : [])));
  const heads = new Map<number, PullRan>();
  for (const { number, head_commit: commit, merge_commit: merged, updated_at } of versions) {
    const ranAt = Date.parse(updated_at);
    if (commit && merged === null && !ended.has(number) && ranAt >= Math.max(since, heads.get(number)?.ranAt ?? 0))
      heads.set(number, { number, commit, ranAt });
  }
  return [...heads.values()];
}

const mergedBy = (events: KeyedEvents): number[] =>
  events.flatMap(({ event: { type, pullRequest } }) =>
    type === 'action.merge' && pullRequest !== null ? [pullRequest] : [],
  );

const ENDS = ['action.merge', 'action.close'];

/** The repository host moves a repository, and tells. */
const HOST = doerOf(byService('repository host'));

async function rename(deps: PrEventsDeps, from: RepositoryName, to: RepositoryName): Promise<void> {
  const renamed = await deps.repositories.rename(from, to, HOST);
  if (renamed === 'taken') deps.log.warn({ from, to }, 'cannot rename a repository: its new path is taken by another');
}

/** Where a host does not say who the author is, the author that is known stays. */
async function rowsOf(
  tx: Executor,
  repositoryId: string,
  versions: readonly PullRequestVersion[],
): Promise<PullRequest[]> {
  const unsaid = versions.filter((version) => version.is_author_unknown).map(({ number }) => number);
  const known = unsaid.length > 0 ? await pullRequestsOf(tx, repositoryId, unsaid) : new Map<number, PullRequest>();
  return versions.map((version) => {
    const row = pullRequestOf(repositoryId, version);
    const before = version.is_author_unknown ? known.get(version.number) : undefined;
    return before ? { ...row, authorId: before.authorId, authorLogin: before.authorLogin } : row;
  });
}

const pullRequestOf = (repositoryId: string, version: PullRequestVersion): PullRequest => ({
  repositoryId,
  number: version.number,
  id: version.id,
  title: version.title,
  authorId: version.author?.id || null,
  authorLogin: version.author?.login ?? null,
  baseRef: version.base_ref,
  headRef: version.head_ref,
  headCommit: version.head_commit,
  mergeCommit: version.merge_commit,
  updatedAt: new Date(version.updated_at),
});

/** Only the branch of a merged pull request makes an event, and only if no newer pull request uses the branch. */
function deletionOf({ key, branch, trigger }: DeletedBranch, pullRequest: PullRequest | undefined): KeyedEvents {
  if (!pullRequest?.mergeCommit) return [];
  const { number, baseRef } = pullRequest;
  const event = newEvent('action.delete_head_branch', { branch }, { trigger, pullRequest: number, baseRef });
  return [{ key, event }];
}
