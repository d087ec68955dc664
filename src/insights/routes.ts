/** All operations on test insights. */
import type { AnyElysia } from 'elysia';
import { FairQueue } from '../fair-queue.ts';
import type { Http } from '../http/operation.ts';
import type { QuarantineStore } from '../postgres/quarantines.ts';
import { TestNamesStore } from '../postgres/test-names.ts';
import { SEARCH_SHARES } from '../postgres/test-search.ts';
import { mountAxes } from './axes.ts';
import { mountCause } from './cause.ts';
import { mountCauses } from './causes.ts';
import { RedRunCauses } from './causes-of-red-runs.ts';
import { mountChangedFiles } from './changed-files.ts';
import { mountClaims } from './claims.ts';
import { mountCodeowners } from './codeowners.ts';
import { mountCommitFailures } from './commit-failures.ts';
import { Commits } from './commits.ts';
import type { InsightsDeps } from './common.ts';
import { mountCost } from './cost.ts';
import { mountDetails } from './details.ts';
import { mountDurations } from './durations.ts';
import { mountExecutions } from './executions.ts';
import { mountExplanation } from './explanation.ts';
import { ExplanationTurns } from './explanation-turns.ts';
import { FailureEvidence } from './failure-evidence.ts';
import { mountFailure, mountFailures } from './failures.ts';
import { mountFlakyDetectionContext } from './flaky-detection-context.ts';
import { mountHealthTransitions } from './health-transitions.ts';
import { mountHistory } from './history.ts';
import { mountHost } from './host.ts';
import { KnownTests } from './known-tests.ts';
import { mountLanes } from './lanes.ts';
import { mountNotOffered } from './not-offered.ts';
import { mountOwnerPreview } from './owner-preview.ts';
import { mountOwners } from './owners.ts';
import { mountPrompts } from './prompts.ts';
import { mountPullComment } from './pull-comment.ts';
import { mountPullRequest } from './pull-request.ts';
import { mountPulls } from './pulls.ts';
import { mountQuarantineEffects } from './quarantine-effects.ts';
import { mountRecovery } from './recovery.ts';
import { RedRunLedgers } from './red-run-ledger.ts';
import { mountRedRuns } from './red-runs.ts';
import { mountRedRunsByDay } from './red-runs-by-day.ts';
import { mountRenames } from './renames.ts';
import { mountRepositories } from './repositories.ts';
import { mountRepositoryChanges } from './repository-changes.ts';
import { mountRepositoryStats } from './repository-stats.ts';
import { mountRepositoryTransitions } from './repository-transitions.ts';
import { mountRun } from './run.ts';
import { RunDays } from './run-days.ts';
import { RunLists } from './run-lists.ts';
import { mountRuns } from './runs.ts';
import { mountSearch } from './search.ts';
import { mountSegments } from './segments.ts';
import { mountSetup } from './setup.ts';
import { mountSplit } from './split.ts';
import { mountStats } from './stats.ts';
import { TestCosts } from './test-costs.ts';
import { mountUnhealthyByDay } from './unhealthy-by-day.ts';
import { UsualTestsOfJobs } from './usual-tests.ts';
import { WhereTheyFail } from './where-they-fail.ts';

const MOUNTED = [
  mountRepositories,
  mountRepositoryChanges,
  mountSearch,
  mountOwners,
  mountOwnerPreview,
  mountCodeowners,
  mountDetails,
  mountRenames,
  mountStats,
  mountRepositoryStats,
  mountSegments,
  mountFailures,
  mountFailure,
  mountExecutions,
  mountAxes,
  mountCommitFailures,
  mountChangedFiles,
  mountClaims,
  mountCauses,
  mountCause,
  mountHealthTransitions,
  mountRepositoryTransitions,
  mountUnhealthyByDay,
  mountRedRuns,
  mountRuns,
  mountRun,
  mountPulls,
  mountPullRequest,
  mountPullComment,
  mountQuarantineEffects,
  mountLanes,
  mountRedRunsByDay,
  mountCost,
  mountDurations,
  mountFlakyDetectionContext,
  mountSplit,
  mountSetup,
  mountHost,
  mountHistory,
  mountPrompts,
];

type Stores = Omit<InsightsDeps, 'knownTests' | 'names' | 'searches'> & { quarantines: QuarantineStore };

export function mountInsights(app: AnyElysia, http: Http, stores: Stores): void {
  const runDays = new RunDays(stores);
  const knownTests = new KnownTests(stores.db, stores.clock);
  const names = new TestNamesStore(stores.db);
  const redRunLedgers = new RedRunLedgers({ ...stores, runDays });
  const deps = {
    ...stores,
    knownTests,
    names,
    whereTheyFail: new WhereTheyFail({ ...stores, knownTests }),
    commits: new Commits(stores.db, stores.clickhouse),
    evidence: new FailureEvidence(stores),
    runDays,
    redRunLedgers,
    testCosts: new TestCosts(redRunLedgers),
    redRunCauses: new RedRunCauses(stores),
    runLists: new RunLists(stores.clickhouse),
    usualTests: new UsualTestsOfJobs(stores.clickhouse),
    searches: new FairQueue(SEARCH_SHARES),
  };
  for (const mountOne of MOUNTED) mountOne(app, http, deps);
  const explaining = { ...deps, explanationTurns: new ExplanationTurns() };
  mountExplanation(app, http, explaining);
  mountRecovery(app, http, explaining);
  mountNotOffered(app, http);
}
