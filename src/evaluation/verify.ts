/** Computes what runs mean and the state of every test from the executions, and compares them with what is stored. */
import { and, eq, gt } from 'drizzle-orm';
import type { ClickHouse } from '../clickhouse/client.ts';
import { comparePositions } from '../domain/execution.ts';
import type { KnownRuns } from '../domain/judge-runs.ts';
import { DAY_MS, dayOf } from '../domain/time.ts';
import { type Database, onPostgres } from '../postgres/client.ts';
import type { HealthChangeRecord } from '../postgres/health-changes.ts';
import { nameOfRun, readMeanings, readRuns, type StoredRun } from '../postgres/judged-runs.ts';
import type { Quarantine } from '../postgres/quarantine-records.ts';
import type { QuarantineStore } from '../postgres/quarantines.ts';
import { identities, repositories } from '../postgres/schema.ts';
import { testsOnDefaultBranches } from './all-tests.ts';
import { deriveState } from './derived-state.ts';
import { conclusiveIn, readGroups, readHistory } from './history.ts';
import { judgeAllRuns } from './judge-all-runs.ts';
import type { PendingTests } from './pending.ts';
import { hasRecovered, recentIdentities } from './quarantines.ts';
import { endOfLastMonthGone } from './rederive.ts';
import { changeDifferences, groupDifferences, stateDifferences } from './state-differences.ts';
import { StateStore } from './state-store.ts';
import { EvaluationStore, type IdentityState, identityKey } from './store.ts';

interface JudgementDeps {
  clickhouse: ClickHouse;
  db: Database;
  quarantines: QuarantineStore;
}

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
 * @param pending what is stored but not evaluated. It may change the tests in it, and what runs mean since the day of the
 *   first of them. These are not compared.
 */
export async function verifyJudgements(
  { clickhouse, db, quarantines }: JudgementDeps,
  pending: PendingTests,
  { repositoryId, executionsAtOnce }: VerifyScope,
): Promise<string[]> {
  const settings = await onPostgres(() =>
    db.select({ id: repositories.id, isEnabled: repositories.flakyDetectionEnabled }).from(repositories),
  );
  const isEnabled = new Map(settings.map((repository) => [repository.id, repository.isEnabled]));
  const differences: string[] = [];
  let current: { id: string; runs: KnownRuns; open: Quarantine[] } | undefined;
  const shown = await testsWithExecutions(db, repositoryId);
  for await (const { repositoryId: id, testIds } of testsOnDefaultBranches(
    clickhouse,
    repositoryId,
    executionsAtOnce,
  )) {
    for (const testId of testIds) shown.delete(`${id}/${testId}`);
    const waiting = pending.get(id) ?? new Map<string, number>();
    if (current?.id !== id) {
      const until = dayOf(Math.min(...waiting.values())) * DAY_MS;
      differences.push(...(await runDifferences({ clickhouse, db }, id, until, executionsAtOnce)));
      const runs = await onPostgres(() => readMeanings(db, id));
      const { quarantines: open } = await quarantines.snapshot(id);
      current = { id, runs, open };
    }
    const { runs, open } = current;
    const compared = testIds.filter((testId) => !waiting.has(testId));
    const stores = { executions: new EvaluationStore(clickhouse, id), states: new StateStore(db, id) };
    const options = { isFlakyDetectionEnabled: isEnabled.get(id) ?? true, runs };
    const found = await differencesOf({ clickhouse, repositoryId: id, ...stores }, compared, options);
    differences.push(...found.differences);
    differences.push(
      ...recoveryDifferences(
        found.states,
        open.filter((quarantine) => compared.includes(quarantine.testId)),
      ),
    );
  }
  for (const test of shown)
    differences.push(`test ${test} is stored with executions, but none is retained on the default branch`);
  return differences;
}

/** Tests that insights show, as `repository/test`. */
async function testsWithExecutions(db: Database, repositoryId?: string): Promise<Set<string>> {
  const rows = await onPostgres(() =>
    db
      .selectDistinct({ repositoryId: identities.repositoryId, testId: identities.testId })
      .from(identities)
      .where(and(gt(identities.executions, 0), repositoryId ? eq(identities.repositoryId, repositoryId) : undefined)),
  );
  return new Set(rows.map((row) => `${row.repositoryId}/${row.testId}`));
}

/** @param until runs that began later are not compared. */
async function runDifferences(
  { clickhouse, db }: Pick<JudgementDeps, 'clickhouse' | 'db'>,
  repositoryId: string,
  until: number,
  executionsAtOnce: number | undefined,
): Promise<string[]> {
  const edge = await onPostgres(() => endOfLastMonthGone(db, repositoryId));
  const stored = new Map(
    (await onPostgres(() => readRuns(db, repositoryId, edge)))
      .filter(({ commit, startedAt }) => commit === '' && startedAt < until)
      .map((run) => [nameOfRun(run), run]),
  );
  const differences: string[] = [];
  const options = { repositoryId, edge, ...(executionsAtOnce === undefined ? {} : { executionsAtOnce }) };
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

const titleOf = ({ pipelineName, jobName, day, runId, runAttempt }: StoredRun): string =>
  `run ${JSON.stringify([pipelineName, jobName, day, runId, runAttempt])}`;

const describedRun = (run: StoredRun | undefined): string =>
  run === undefined
    ? 'missing'
    : JSON.stringify([
        run.startedAt,
        run.executions,
        [...run.unexpected].sort(),
        [...run.expected].sort(),
        run.meaning,
      ]);

interface VerifiedStores {
  clickhouse: ClickHouse;
  repositoryId: string;
  executions: EvaluationStore;
  states: StateStore;
}

async function differencesOf(
  { clickhouse, repositoryId, executions: store, states }: VerifiedStores,
  testIds: string[],
  { isFlakyDetectionEnabled, runs }: { isFlakyDetectionEnabled: boolean; runs: KnownRuns },
): Promise<{ differences: string[]; states: IdentityState[] }> {
  const history = await readHistory(clickhouse, repositoryId, testIds);
  const groups = await readGroups(clickhouse, repositoryId, testIds);
  const flaky = new Set((await store.flakyExecutions(testIds, 0)).map(({ executionId }) => executionId));
  const stored = await states.readStates(testIds);
  const checkpoints = await states.readCheckpoints(testIds);
  const baselines = new Map(checkpoints.map((row) => [identityKey(row), row.baseline]));
  const differences: string[] = [];
  const changes: HealthChangeRecord[] = [];
  const found: IdentityState[] = [];
  for (const [testId, of] of history) {
    const derived = deriveState(testId, of, { isFlakyDetectionEnabled, runs, baselines });
    for (const { executionId } of conclusiveIn(of)) {
      const is = derived.flaky.has(String(executionId));
      if (is !== flaky.has(executionId))
        differences.push(
          `execution ${executionId} of test ${testId} is ${described(is)}, but stored as ${described(!is)}`,
        );
    }
    found.push(...derived.states);
    changes.push(...derived.changes);
    differences.push(...stateDifferences(derived, stored.get(testId)?.test, stored.get(testId)?.records ?? []));
  }
  const isKept = (change: HealthChangeRecord): boolean => {
    const baseline = baselines.get(identityKey(change))?.at;
    return baseline ? comparePositions(change.at, baseline) <= 0 : false;
  };
  differences.push(...changeDifferences(changes, await states.readChanges(testIds), isKept));
  differences.push(...groupDifferences(groups, await states.readGroups(testIds)));
  return { differences, states: found };
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
