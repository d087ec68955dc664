/** Handles `test-runs` jobs: checks the payload, settles the repository, and hands the chunk to the next block. */
import type { Job } from 'bullmq';
import { z } from 'zod';
import type { Clock } from '../src/clock.ts';
import { guessDefaultBranch, shortBranch } from '../src/domain/default-branch.ts';
import { UnstorableChunk } from '../src/ledger/ledger.ts';
import { originOf, prepareChunk } from '../src/ledger/prepare.ts';
import type { Logger } from '../src/observability/log.ts';
import { deadLetters } from '../src/observability/metrics.ts';
import type { DeadLetterStore } from '../src/postgres/dead-letters.ts';
import type { Repository, RepositoryStore } from '../src/postgres/repositories.ts';
import { testRuns } from '../src/queue/catalogue.ts';
import { type Unpacked, unpack } from '../src/queue/encoding.ts';
import { type TestRunsJob, testRunsSchema } from '../src/queue/test-runs.ts';
import type { Batcher } from './batcher.ts';

export interface TestRunsDeps {
  clock: Clock;
  log: Logger;
  repositories: RepositoryStore;
  deadLetters: DeadLetterStore;
  batcher: Batcher;
  retentionDays: number;
}

/**
 * The handler. It returns when every execution of the job is stored, or when the job is among the dead letters because no
 * retry can help it. It throws when a store does not answer: BullMQ tries again, later each time.
 */
export function testRunsHandler(deps: TestRunsDeps): (job: Job) => Promise<void> {
  return async (job) => {
    const checked = check(job.data);
    if ('reason' in checked) return bury(deps, job, checked.uploadId, checked.reason);
    const { payload, bytes } = checked;
    const repository = await settleRepository(deps.repositories, payload);
    const chunk = prepareChunk(payload, {
      repositoryId: repository.id,
      defaultBranch: repository.defaultBranch,
      now: deps.clock.now(),
      retentionDays: deps.retentionDays,
    });
    try {
      await deps.batcher.add(chunk, bytes);
    } catch (error) {
      if (!(error instanceof UnstorableChunk)) throw error;
      await bury(deps, job, payload.upload_id, `ClickHouse refuses it: ${error.message}`);
    }
  };
}

type Checked = { payload: TestRunsJob; bytes: number } | { reason: string; uploadId: string | null };

function check(data: unknown): Checked {
  let unpacked: Unpacked;
  try {
    unpacked = unpack(data);
  } catch (error) {
    return { reason: `the payload cannot be unpacked: ${(error as Error).message}`, uploadId: null };
  }
  const parsed = testRunsSchema.safeParse(unpacked.payload);
  if (parsed.success) return { payload: parsed.data, bytes: unpacked.bytes };
  const uploadId = z.object({ upload_id: z.uuid() }).safeParse(unpacked.payload).data?.upload_id ?? null;
  return { reason: `the payload is not a test-runs job of version 1: ${z.prettifyError(parsed.error)}`, uploadId };
}

async function bury(deps: TestRunsDeps, job: Job, uploadId: string | null, reason: string): Promise<void> {
  await deps.deadLetters.add(testRuns.name, job.id ?? 'unknown', uploadId, job.data, reason);
  deadLetters.inc({ queue: testRuns.name });
  deps.log.error({ job: job.id, reason }, 'a job went to the dead letters');
}

/** Records the repository at its first upload and learns its default branch from what the upload says. */
async function settleRepository(repositories: RepositoryStore, job: TestRunsJob): Promise<Repository> {
  const repository = await repositories.record(job.repository);
  const stated = job.run.default_branch ? shortBranch(job.run.default_branch) : null;
  if (stated !== null && (repository.defaultBranchSource === null || repository.defaultBranchSource === 'guess'))
    return repositories.learnDefaultBranch(repository, stated, 'payload');
  if (repository.defaultBranch !== null) return repository;
  const guessed = guessDefaultBranch(originOf(job.run));
  return guessed === null ? repository : repositories.learnDefaultBranch(repository, guessed, 'guess');
}
