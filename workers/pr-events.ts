/** Handles `pr-events` jobs: keeps the pull requests, and writes what happened on them into the event log's outbox. */
import type { Job } from 'bullmq';
import { z } from 'zod';
import type { Clock } from '../src/clock.ts';
import { shortBranch } from '../src/domain/default-branch.ts';
import { type NewEvent, newEvent } from '../src/domain/events.ts';
import type { RepositoryName } from '../src/domain/repository-path.ts';
import type { Logger } from '../src/observability/log.ts';
import { deadLetters } from '../src/observability/metrics.ts';
import { type Database, onPostgres } from '../src/postgres/client.ts';
import type { DeadLetterStore } from '../src/postgres/dead-letters.ts';
import { recordKeyedEvents } from '../src/postgres/outbox.ts';
import { keepPullRequests, newestOfBranches, type PullRequest } from '../src/postgres/pull-requests.ts';
import type { RepositoryStore } from '../src/postgres/repositories.ts';
import { prEvents } from '../src/queue/catalogue.ts';
import { unpack } from '../src/queue/encoding.ts';
import {
  type DeletedBranch,
  type PrEventsJob,
  type PullRequestVersion,
  prEventsSchema,
  readEvent,
} from '../src/queue/pr-events.ts';

export interface PrEventsDeps {
  clock: Clock;
  log: Logger;
  db: Database;
  repositories: RepositoryStore;
  deadLetters: DeadLetterStore;
}

/**
 * The handler. It returns when every event of the job is in the outbox; those that no retry can help are left out, and then
 * the job is among the dead letters with the reason: replaying it adds only what is new. It throws when a store does not answer.
 */
export function prEventsHandler(deps: PrEventsDeps): (job: Job) => Promise<void> {
  return async (job) => {
    const checked = check(job.data);
    if (checked.payload) await record(deps, checked.payload, checked.events);
    if (checked.reasons.length > 0) {
      const reason = checked.reasons.slice(0, REASONS_MAX).join('; ');
      await deps.deadLetters.add(prEvents.name, job.id ?? 'unknown', null, job.data, reason);
      deadLetters.inc({ queue: prEvents.name });
      deps.log.error({ job: job.id, reason }, 'a job went to the dead letters');
    }
  };
}

const REASONS_MAX = 10;

interface Checked {
  payload: PrEventsJob | undefined;
  events: { key: string; event: NewEvent }[];
  reasons: string[];
}

function check(data: unknown): Checked {
  const refused = (reason: string): Checked => ({ payload: undefined, events: [], reasons: [reason] });
  let unpacked: unknown;
  try {
    unpacked = unpack(data).payload;
  } catch (error) {
    return refused(`the payload cannot be unpacked: ${(error as Error).message}`);
  }
  const parsed = prEventsSchema.safeParse(unpacked);
  if (!parsed.success)
    return refused(`the payload is not a pr-events job of version 1: ${z.prettifyError(parsed.error)}`);
  const checked: Checked = { payload: parsed.data, events: [], reasons: [] };
  parsed.data.events.forEach((event, i) => {
    const read = readEvent(event);
    if ('event' in read) checked.events.push({ key: event.key, event: read.event });
    else checked.reasons.push(`event ${i} (${event.key.slice(0, 100)}): ${read.reason}`);
  });
  return checked;
}

/** Pull requests first and in the same transaction: a branch that was deleted is looked up among them. */
async function record(deps: PrEventsDeps, payload: PrEventsJob, events: Checked['events']): Promise<void> {
  if (payload.renamed_from) await rename(deps, payload.renamed_from, payload.repository);
  const repository = await deps.repositories.record(payload.repository);
  const stated = payload.default_branch ? shortBranch(payload.default_branch) : null;
  if (stated !== null && stated !== repository.defaultBranch && repository.defaultBranchSource !== 'setting')
    await deps.repositories.learnDefaultBranch(repository, stated, 'host');
  await onPostgres(() =>
    deps.db.transaction(async (tx) => {
      await keepPullRequests(
        tx,
        payload.pull_requests.map((version) => pullRequestOf(repository.id, version)),
      );
      const newest = await newestOfBranches(
        tx,
        repository.id,
        payload.deleted_branches.map(({ branch }) => branch),
      );
      const deletions = payload.deleted_branches.flatMap((deleted) => deletionOf(deleted, newest.get(deleted.branch)));
      await recordKeyedEvents(tx, repository.id, [...events, ...deletions], deps.clock.now());
    }),
  );
}

async function rename(deps: PrEventsDeps, from: RepositoryName, to: RepositoryName): Promise<void> {
  const renamed = await deps.repositories.rename(from, to);
  if (renamed === 'taken')
    deps.log.warn({ from, to }, 'a renamed repository stays at its old path: another is recorded at the new one');
}

const pullRequestOf = (repositoryId: string, version: PullRequestVersion): PullRequest => ({
  repositoryId,
  number: version.number,
  id: version.id,
  title: version.title,
  authorId: version.author?.id ?? null,
  authorLogin: version.author?.login ?? null,
  baseRef: version.base_ref,
  headRef: version.head_ref,
  headCommit: version.head_commit,
  mergeCommit: version.merge_commit,
  updatedAt: new Date(version.updated_at),
});

/** Only the branch of a merged pull request makes an event (design §6), and only while no newer one uses it. */
function deletionOf({ key, branch, trigger }: DeletedBranch, pullRequest: PullRequest | undefined): Checked['events'] {
  if (!pullRequest?.mergeCommit) return [];
  const { number, baseRef } = pullRequest;
  const event = newEvent('action.delete_head_branch', { branch }, { trigger, pullRequest: number, baseRef });
  return [{ key, event }];
}
