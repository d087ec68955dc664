/** Computes what runs mean and the state of every test from the executions, and compares them with what is stored. */
import { and, eq, gt } from 'drizzle-orm';
import type { ClickHouse } from '../clickhouse/client.ts';
import { commitKey } from '../commits/commit-record.ts';
import { concurrently } from '../concurrently.ts';
import { appendAll } from '../domain/append.ts';
import { isOfOtherLegs } from '../domain/clues.ts';
import { comparePositions } from '../domain/execution.ts';
import type { KnownRuns } from '../domain/judge-runs.ts';
import { JUDGING_KINDS } from '../domain/stale.ts';
import { identityKey } from '../domain/test-identity.ts';
import { DAY_MS, dayOf } from '../domain/time.ts';
import { readWhole } from '../postgres/abandonable.ts';
import { readBaselines } from '../postgres/baselines.ts';
import { type Database, onPostgres } from '../postgres/client.ts';
import { failedAmong, type IdentifiedClue, readClues, readCluesBetween } from '../postgres/clues.ts';
import { readFailureGroups } from '../postgres/failure-groups.ts';
import { readFlakyExecutions } from '../postgres/flaky-executions.ts';
import { type HealthChangeRecord, readHealthChanges } from '../postgres/health-changes.ts';
import { readFolds, readIdentities } from '../postgres/identities.ts';
import { nameOfRun, readMeanings, readRuns, type StoredRun } from '../postgres/judged-runs.ts';
import type { Quarantine } from '../postgres/quarantine-records.ts';
import type { QuarantineStore } from '../postgres/quarantines.ts';
import { identities, repositories } from '../postgres/schema.ts';
import { readSuspects } from '../postgres/suspects.ts';
import { namesOfRenamed } from '../postgres/test-names.ts';
import { readTests } from '../postgres/tests.ts';
import { REPOSITORIES_AT_ONCE, type TestsOfRepository, testsOnDefaultBranches } from './all-tests.ts';
import { findBeginnings, type IdentifiedChange, recordsOf } from './beginnings.ts';
import { deriveState, unjudgedRun } from './derived-state.ts';
import { type CommitEvidence, nameOfFailedRun, readAllEvidence } from './evidence.ts';
import { conclusiveIn, readGroups, readHistory } from './history.ts';
import { type AllRunsOptions, judgeAllRuns } from './judge-all-runs.ts';
import type { Pending } from './pending.ts';
import { hasRecovered, type IdentityState, recentIdentities } from './quarantines.ts';
import { endOfLastMonthGone, oldestRetained } from './rederive.ts';
import { asPullRun, byText } from './refresh-evidence.ts';
import { changeDifferences, foldDifferences, groupDifferences, stateDifferences } from './state-differences.ts';

interface JudgementDeps {
  clickhouse: ClickHouse;
  db: Database;
  quarantines: QuarantineStore;
}

type ComparedPending = Pick<Pending, 'tests' | 'commits' | 'stale'>;

interface VerifyScope {
  /** Undefined: every repository. */
  repositoryId: string | undefined;
  /** How many executions are held in memory and judged at once; undefined: as many as a rebuild takes. */
  executionsAtOnce: number | undefined;
}

/**
 * Returns a sentence for every difference. A run is compared with what all executions before it say; a test with what they
 * say if its runs mean what is stored. If neither differs anywhere, everything is as if it were judged from the beginning.
 *
 * @param pending what is stored but not evaluated. It may change the tests in it, what runs mean since the day of the
 *   first of them, and what commits contradict. These are not compared, nor are repositories whose judgements are stale.
 */
export async function verifyJudgements(
  { clickhouse, db, quarantines }: JudgementDeps,
  pending: ComparedPending,
  { repositoryId, executionsAtOnce }: VerifyScope,
): Promise<string[]> {
  const settings = await onPostgres(() =>
    db.select({ id: repositories.id, isEnabled: repositories.flakyDetectionEnabled }).from(repositories),
  );
  const isEnabled = new Map(settings.map((repository) => [repository.id, repository.isEnabled]));
  const retainedSince = await oldestRetained(clickhouse);
  const shown = await testsWithExecutions(db, repositoryId);
  const all = await testsOnDefaultBranches(clickhouse, repositoryId, executionsAtOnce);
  const found = new Map<string, string[]>();
  await concurrently(all, REPOSITORIES_AT_ONCE, async ({ repositoryId: id, groups }) => {
    for (const { testIds } of groups) for (const testId of testIds) shown.delete(`${id}/${testId}`);
    if (JUDGING_KINDS.some((kind) => pending.stale.get(id)?.has(kind))) return;
    const edge = await onPostgres(() => endOfLastMonthGone(db, id, retainedSince));
    const options = { isFlakyDetectionEnabled: isEnabled.get(id) ?? true, edge, executionsAtOnce };
    found.set(id, await differencesIn({ clickhouse, db, quarantines }, { repositoryId: id, groups }, pending, options));
  });
  return [
    ...all.flatMap(({ repositoryId: id }) => found.get(id) ?? []),
    ...[...shown].map((test) => `test ${test} is stored with executions, but none is retained on the default branch`),
  ];
}

interface RulesOfRepository extends Pick<AllRunsOptions, 'edge' | 'executionsAtOnce'> {
  isFlakyDetectionEnabled: boolean;
}

/** Differences in one repository. */
async function differencesIn(
  { clickhouse, db, quarantines }: JudgementDeps,
  { repositoryId, groups }: TestsOfRepository,
  pending: ComparedPending,
  { isFlakyDetectionEnabled, ...judging }: RulesOfRepository,
): Promise<string[]> {
  const waiting = pending.tests.get(repositoryId) ?? new Map<string, number>();
  const until = dayOf(Math.min(...waiting.values())) * DAY_MS;
  const pulls = await pullDifferences({ clickhouse, db }, repositoryId, { ...judging, pending: pending.commits });
  const differences = pulls.differences;
  const judged = { ...judging, repositoryId, evidence: pulls.evidence };
  appendAll(differences, await runDifferences({ clickhouse, db }, until, judged));
  const runs = await onPostgres(() => readMeanings(db, repositoryId));
  const stale = pending.stale.get(repositoryId) ?? new Set();
  const options = { isFlakyDetectionEnabled, runs, areBeginningsStale: stale.has('beginnings') };
  const { quarantines: open } = await quarantines.snapshot(repositoryId);
  for (const { testIds } of groups) {
    const compared = testIds.filter((testId) => !waiting.has(testId));
    const found = await onPostgres(() => differencesOf({ clickhouse, db, repositoryId }, compared, options));
    appendAll(differences, found.differences);
    if (stale.has('quarantines')) continue;
    const these = new Set(compared);
    const ofThese = open.filter(({ testId }) => these.has(testId));
    appendAll(differences, recoveryDifferences(found.states, ofThese));
  }
  return differences;
}

/** Tests that insights show, as `repository/test`. */
async function testsWithExecutions(db: Database, repositoryId?: string): Promise<Set<string>> {
  const rows = await readWhole(db, (tx) =>
    tx
      .selectDistinct({ repositoryId: identities.repositoryId, testId: identities.testId })
      .from(identities)
      .where(and(gt(identities.executions, 0), repositoryId ? eq(identities.repositoryId, repositoryId) : undefined)),
  );
  return new Set(rows.map((row) => `${row.repositoryId}/${row.testId}`));
}

/**
 * Compares the clues of commits with what is stored. Commits that are pending are taken as
 * stored.
 */
async function pullDifferences(
  { clickhouse, db }: Pick<JudgementDeps, 'clickhouse' | 'db'>,
  repositoryId: string,
  { edge, pending }: { edge: number; pending: ReadonlySet<string> },
): Promise<{ differences: string[]; evidence: CommitEvidence }> {
  const { failed, ...found } = await readAllEvidence({ clickhouse, repositoryId }, edge);
  const since = { from: edge, to: Number.MAX_SAFE_INTEGER };
  const stored = await onPostgres(() => readCluesBetween(db, repositoryId, since));
  const runs = await onPostgres(() => readRuns(db, repositoryId, edge));
  const failedCommits = failed.map(({ commit }) => commit);
  const known = new Set(await onPostgres(() => failedAmong(db, repositoryId, failedCommits)));
  const isPending = (commit: string): boolean => pending.has(commitKey({ repositoryId, commit }));
  const settled = (all: readonly IdentifiedClue[]) => all.filter(({ failure }) => !isPending(failure.commit));
  const [before, after] = [byText(settled(stored)), byText(settled(found.clues))];
  const described = (one: IdentifiedClue, said: string): string =>
    `commit ${one.failure.commit} ${said} about test ${one.testId} in ${JSON.stringify([one.pipelineName, one.jobName, one.axes])}`;
  const evidence = {
    clues: [...after.values(), ...stored.filter(({ failure }) => isPending(failure.commit))],
    runs: [
      ...found.runs.filter(({ commit }) => !isPending(commit)),
      ...runs.filter(({ commit }) => commit !== '' && isPending(commit)).map(asPullRun),
    ],
  };
  const named = new Set(evidence.runs.map(nameOfRun));
  return {
    differences: [
      ...failedCommits
        .filter((commit) => !known.has(commit) && !isPending(commit))
        .map((commit) => `commit ${commit} failed, but is not known to`),
      ...[...after].flatMap(([text, one]) =>
        before.has(text) ? [] : described(one, 'has a clue that is not stored,'),
      ),
      ...[...before].flatMap(([text, one]) =>
        after.has(text) ? [] : described(one, 'does not have the clue that is stored,'),
      ),
    ],
    evidence: {
      ...evidence,
      clues: evidence.clues.filter((one) => isOfOtherLegs(one) || named.has(nameOfFailedRun(one))),
    },
  };
}

/** @param until runs that began later are not compared. */
async function runDifferences(
  { clickhouse, db }: Pick<JudgementDeps, 'clickhouse' | 'db'>,
  until: number,
  options: AllRunsOptions,
): Promise<string[]> {
  const { repositoryId, edge } = options;
  const stored = new Map(
    (await onPostgres(() => readRuns(db, repositoryId, edge)))
      .filter(({ startedAt }) => startedAt < until)
      .map((run) => [nameOfRun(run), run]),
  );
  const differences: string[] = [];
  for await (const runs of judgeAllRuns(clickhouse, db, options))
    for (const run of runs) {
      if (run.startedAt >= until) return [...differences, ...goneRuns(stored)];
      const name = nameOfRun(run);
      const [is, was] = [describedRun(run), describedRun(stored.get(name))];
      stored.delete(name);
      if (is !== was) differences.push(`${titleOf(run)} is ${is}, but stored as ${was}`);
    }
  return [...differences, ...goneRuns(stored)];
}

const goneRuns = (stored: ReadonlyMap<string, StoredRun>): string[] =>
  [...stored.values()].map((run) => `${titleOf(run)} is stored, but nothing shows it`);

const titleOf = ({ pipelineName, jobName, axes, day, runId, runAttempt, commit }: StoredRun): string =>
  `run ${JSON.stringify([pipelineName, jobName, axes, day, runId, runAttempt, ...(commit ? [commit] : [])])}`;

const describedRun = (run: StoredRun | undefined): string =>
  run === undefined
    ? 'missing'
    : JSON.stringify([
        run.startedAt,
        run.executions,
        [...run.unexpected].sort(),
        [...run.expected].sort(),
        [...run.again].sort(),
        run.meaning,
      ]);

interface VerifiedStores {
  clickhouse: ClickHouse;
  db: Database;
  repositoryId: string;
}

interface ComparedRules {
  isFlakyDetectionEnabled: boolean;
  runs: KnownRuns;
  areBeginningsStale: boolean;
}

async function differencesOf(
  { clickhouse, db, repositoryId }: VerifiedStores,
  testIds: readonly string[],
  { isFlakyDetectionEnabled, runs, areBeginningsStale }: ComparedRules,
): Promise<{ differences: string[]; states: IdentityState[] }> {
  const names = (await namesOfRenamed(db, [repositoryId])).get(repositoryId);
  const history = await readHistory(clickhouse, repositoryId, testIds, names);
  const groups = await readGroups(clickhouse, repositoryId, testIds);
  const flaky = new Set((await readFlakyExecutions(db, repositoryId, testIds)).map(({ executionId }) => executionId));
  const tests = new Map((await readTests(db, repositoryId, testIds)).map((test) => [test.testId, test]));
  const stored = Map.groupBy(await readIdentities(db, repositoryId, testIds), ({ testId }) => testId);
  const suspects = new Map(
    (await readSuspects(db, repositoryId, testIds)).map((one) => [identityKey(one), one.suspect]),
  );
  const baselines = await readBaselines(db, repositoryId, testIds);
  const starts = new Map(baselines.map((row) => [identityKey(row), row.belief.at]));
  const byTest = Map.groupBy(baselines, (row) => row.testId);
  const clues = Map.groupBy(await readClues(db, repositoryId, testIds), identityKey);
  const folds = Map.groupBy(await readFolds(db, repositoryId, testIds), ({ testId }) => testId);
  const differences: string[] = [];
  const changes: IdentifiedChange[] = [];
  const states: IdentityState[] = [];
  for (const [testId, found] of history) {
    const options = { isFlakyDetectionEnabled, runs, baselines: byTest.get(testId) ?? [], clues };
    const unjudged = unjudgedRun(testId, found, options);
    if (unjudged !== undefined) {
      differences.push(`test ${testId} failed in run ${unjudged}, which is not judged`);
      continue;
    }
    const derived = deriveState(testId, found, options);
    const counted = new Set(derived.flaky.map(({ executionId }) => executionId));
    for (const { executionId } of conclusiveIn(found)) {
      const is = counted.has(executionId);
      if (is !== flaky.has(String(executionId)))
        differences.push(
          `execution ${executionId} of test ${testId} is ${described(is)}, but stored as ${described(!is)}`,
        );
    }
    states.push(...derived.states);
    changes.push(...derived.changes);
    const record = { test: tests.get(testId), identities: stored.get(testId) ?? [], suspects };
    differences.push(...stateDifferences(derived, record));
    differences.push(...foldDifferences(derived.identities, folds.get(testId) ?? []));
  }
  const isKept = (change: HealthChangeRecord): boolean => {
    const start = starts.get(identityKey(change));
    return start ? comparePositions(change.at, start) <= 0 : false;
  };
  const known = await readHealthChanges(db, repositoryId, testIds);
  const found = areBeginningsStale ? new Map() : await findBeginnings(clickhouse, repositoryId, changes);
  differences.push(...changeDifferences(recordsOf(changes, known, found), known, isKept));
  differences.push(...groupDifferences(groups, await readFailureGroups(db, repositoryId, testIds)));
  return { differences, states };
}

const described = (isFlaky: boolean): string => (isFlaky ? 'flaky' : 'not flaky');

function recoveryDifferences(states: readonly IdentityState[], open: readonly Quarantine[]): string[] {
  const recent = recentIdentities(states);
  return open.flatMap((quarantine) => {
    const is = hasRecovered(quarantine, recent);
    if (is === quarantine.isRecovered) return [];
    return [`quarantine ${quarantine.id} has ${is ? '' : 'not '}recovered, but the opposite is stored`];
  });
}
