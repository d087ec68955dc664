/** Handles `test-runs` jobs: records the repository, prepares the chunk, and adds it to the next block. */
import type { Clock } from '../src/clock.ts';
import {
  defaultBranchWarning,
  guessDefaultBranch,
  isOnBranchItself,
  originOf,
  shortBranch,
} from '../src/domain/default-branch.ts';
import { hostOfJob } from '../src/hosts/pages.ts';
import { inSlices } from '../src/in-slices.ts';
import { RepositoryDeleted, UnstorableChunk } from '../src/ledger/ledger.ts';
import { type PreparedChunk, type PrepareOptions, preparingChunk } from '../src/ledger/prepare.ts';
import type { Repository, RepositoryStore } from '../src/postgres/repositories.ts';
import type { TestNamesStore } from '../src/postgres/test-names.ts';
import type { TestRunsJob, testRunsSchema } from '../src/queue/test-runs.ts';
import type { Batchers } from './batcher.ts';
import type { Handler } from './consume.ts';
import { FingerprintBudget } from './fingerprint-budget.ts';

export interface TestRunsDeps {
  clock: Clock;
  repositories: RepositoryStore;
  names: TestNamesStore;
  batchers: Batchers;
  retentionDays: number;
  /** Shared by all queues of the process; a new one unless given. */
  fingerprints?: FingerprintBudget;
}

/** Returns when every execution of the job is stored. */
export const testRunsHandler = ({
  clock,
  repositories,
  names,
  batchers,
  retentionDays,
  fingerprints = new FingerprintBudget(),
}: TestRunsDeps): Handler<typeof testRunsSchema> => {
  const handle: Handler<typeof testRunsSchema> = async (payload, job) => {
    // It goes with the repository: a job that waits brings nothing deleted back.
    if (await repositories.wasDeletedSince(payload.repository, Date.parse(payload.received_at))) return undefined;
    const repository = await recordRepository(repositories, payload);
    const chunk = await prepared(warned(payload, repository), {
      fingerprintOf: fingerprints.of(payload.repository.owner),
      repositoryId: repository.id,
      names: await names.of(repository.id),
      defaultBranch: repository.defaultBranch,
      now: clock.now(),
      retentionDays,
    });
    if ('buried' in chunk) return chunk;
    try {
      await batchers.add(chunk, job.bytes);
      return undefined;
    } catch (error) {
      if (error instanceof RepositoryDeleted) {
        repositories.forget(payload.repository);
        return handle(payload, job);
      }
      if (!(error instanceof UnstorableChunk)) throw error;
      return { buried: error.message };
    }
  };
  return handle;
};

/** Nothing but the payload decides whether this works, so the same job would fail each time. */
async function prepared(payload: TestRunsJob, options: PrepareOptions): Promise<PreparedChunk | { buried: string }> {
  try {
    return await inSlices(preparingChunk(payload, options));
  } catch (error) {
    return { buried: `the chunk cannot be prepared: ${error instanceof Error ? error.message : String(error)}` };
  }
}

const statedDefaultBranch = ({ run }: TestRunsJob): string | null =>
  run.default_branch ? shortBranch(run.default_branch) : null;

/** The job with a warning for its receipt if it names another default branch than the known one, which stays. */
function warned(job: TestRunsJob, { defaultBranch, defaultBranchSource }: Repository): TestRunsJob {
  const warning = defaultBranchWarning(statedDefaultBranch(job), defaultBranch, defaultBranchSource);
  return warning === undefined ? job : { ...job, warnings: [...job.warnings, warning] };
}

/** Learns where the repository is shown from the address of a job that may speak for a branch. */
async function learnHost(repositories: RepositoryStore, repository: Repository, { run }: TestRunsJob): Promise<void> {
  if (repository.hostSource !== null || run.is_confined || !isOnBranchItself(originOf(run))) return;
  const page = hostOfJob(run.job_url, repository);
  if (page) await repositories.learnHost(repository, page, 'upload');
}

/** Records the repository at its first upload, and learns its default branch from the first uploads that say it. */
async function recordRepository(repositories: RepositoryStore, job: TestRunsJob): Promise<Repository> {
  const repository = await repositories.record(job.repository);
  await learnHost(repositories, repository, job);
  if (repository.defaultBranch !== null) return repository;
  const stated = statedDefaultBranch(job);
  if (stated !== null) return repositories.learnDefaultBranch(repository, stated, 'payload');
  const guessed = guessDefaultBranch(originOf(job.run));
  return guessed === null ? repository : repositories.learnDefaultBranch(repository, guessed, 'guess');
}
