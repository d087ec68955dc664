/** What the comment on a pull request says of a commit, as the failures of the commit say it. */
import { COMMIT_VERDICTS } from '../domain/commit-verdict.ts';
import { type CommentedCommit, type CommentedFailure, saidOf } from '../domain/pull-comment.ts';
import { FairQueue } from '../fair-queue.ts';
import { onPostgres } from '../postgres/client.ts';
import { readOwners } from '../postgres/owners.ts';
import type { QuarantineStore } from '../postgres/quarantines.ts';
import type { Repository } from '../postgres/repositories.ts';
import { TestNamesStore } from '../postgres/test-names.ts';
import { SEARCH_SHARES } from '../postgres/test-search.ts';
import { causesOfFailures } from './causes-of-failures.ts';
import { claimAbout } from './claim-json.ts';
import { Commits } from './commits.ts';
import type { InsightsDeps } from './common.ts';
import { FailureEvidence } from './failure-evidence.ts';
import { summaryOf } from './failure-summary.ts';
import { type CommitFailure, readCommitFailures } from './failures-of-commit.ts';
import { KnownTests } from './known-tests.ts';
import { UsualTestsOfJobs } from './usual-tests.ts';

/** More than a comment shows. */
const FAILURES_MAX = 100;

export type CommentedStores = Omit<InsightsDeps, 'knownTests' | 'names' | 'searches'> & {
  quarantines: QuarantineStore;
};

export class CommentedCommits {
  readonly #deps: InsightsDeps & { commits: Commits; evidence: FailureEvidence };
  readonly #usualTests: UsualTestsOfJobs;

  constructor(
    stores: CommentedStores,
    /** Address of the service, without a trailing slash. */
    private readonly publicUrl: string,
  ) {
    this.#deps = {
      ...stores,
      knownTests: new KnownTests(stores.db, stores.clock),
      names: new TestNamesStore(stores.db),
      searches: new FairQueue(SEARCH_SHARES),
      commits: new Commits(stores.db, stores.clickhouse),
      evidence: new FailureEvidence(stores),
    };
    this.#usualTests = new UsualTestsOfJobs(stores.clickhouse);
  }

  /** Null as long as nothing of the commit has arrived. Throws what the stores throw. */
  async read(repository: Repository, commit: string): Promise<CommentedCommit | null> {
    const asked = { commit, pipelines: [], jobs: [], branches: [], runIds: [], runAttempt: undefined, axes: {} };
    const { runs, failures } = await readCommitFailures(this.#deps, repository, asked);
    if (runs.length === 0) return null;
    const shown = failures.toSorted(byVerdict).slice(0, FAILURES_MAX);
    const ids = [...new Set(shown.map(({ testId }) => testId))];
    const [owners, causes, fewer] = await Promise.all([
      onPostgres(() => readOwners(this.#deps.db, repository.id, ids)),
      causesOfFailures(this.#deps, repository, shown),
      this.#usualTests.fewer(repository, runs),
    ]);
    const pageOf = (path: string): string => `${this.publicUrl}/app/${repository.owner}/${repository.name}/${path}`;
    return {
      commit,
      url: pageOf(`commits/${encodeURIComponent(commit)}`),
      summary: summaryOf(failures, repository.defaultBranch, this.#deps.clock.now()),
      failures: shown.map((failure) => {
        const cause = causes.get(failure);
        return commented(failure, {
          owners: owners.get(failure.testId) ?? [],
          cause: cause === undefined ? null : { id: cause, url: pageOf(`causes/${encodeURIComponent(cause)}`) },
          url: pageOf(`tests/${encodeURIComponent(failure.testId)}`),
          defaultBranch: repository.defaultBranch,
        });
      }),
      total: failures.length,
      fewerTests: fewer.length,
    };
  }
}

/** As the failures of a commit are listed. */
const byVerdict = (one: CommitFailure, other: CommitFailure): number =>
  COMMIT_VERDICTS.indexOf(one.verdict) - COMMIT_VERDICTS.indexOf(other.verdict) ||
  Buffer.compare(Buffer.from(one.testName), Buffer.from(other.testName)) ||
  Buffer.compare(Buffer.from(one.pipelineName), Buffer.from(other.pipelineName)) ||
  Buffer.compare(Buffer.from(one.jobName), Buffer.from(other.jobName));

function commented(
  failure: CommitFailure,
  { defaultBranch, ...rest }: Pick<CommentedFailure, 'owners' | 'cause' | 'url'> & { defaultBranch: string | null },
): CommentedFailure {
  const { verdict, probability, for: forIt, against, needs } = claimAbout(failure, { defaultBranch, baseCommit: null });
  const { type = '', message = '' } = failure.shown ?? {};
  return {
    testName: failure.testName,
    jobName: failure.jobName,
    verdict: failure.verdict,
    claim: {
      verdict,
      probability,
      for: forIt.map(({ sentence }) => sentence),
      against: against.map(({ sentence }) => sentence),
      needs: needs?.sentence ?? null,
    },
    message: saidOf(type, message),
    ...rest,
  };
}
