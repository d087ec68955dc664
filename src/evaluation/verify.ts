/** Computes verdicts and health of every test from its executions and compares them with what is stored. */
import { and, eq, gt } from 'drizzle-orm';
import type { ClickHouse } from '../clickhouse/client.ts';
import { comparePositions } from '../domain/execution.ts';
import { judge } from '../domain/judge.ts';
import { TROUBLE_REACH_MS } from '../domain/judgement-constants.ts';
import { isRecovered } from '../domain/quarantine-rules.ts';
import { REPETITION_REACH_MS } from '../domain/repetition.ts';
import { endOfMonth } from '../domain/retention.ts';
import { DAY_MS, dayOf } from '../domain/time.ts';
import { type Database, onPostgres } from '../postgres/client.ts';
import type { HealthChangeRecord } from '../postgres/health-changes.ts';
import { newestBaseline } from '../postgres/health-checkpoints.ts';
import type { Quarantine } from '../postgres/quarantine-records.ts';
import type { QuarantineStore } from '../postgres/quarantines.ts';
import { identities, repositories } from '../postgres/schema.ts';
import { testsOnDefaultBranches } from './all-tests.ts';
import { deriveState } from './derived-state.ts';
import { isSameEvidence, rulesOf } from './evaluate.ts';
import type { Fold } from './fold.ts';
import type { IdentityState } from './health.ts';
import { readGroups, readHistory } from './history.ts';
import type { PendingTests } from './pending.ts';
import { QuarantineEvidenceStore } from './quarantine-evidence.ts';
import { recentIdentities, recoveryOf } from './quarantines.ts';
import { RunStore, type TroubledRun } from './run-store.ts';
import { changeDifferences, groupDifferences, stateDifferences } from './state-differences.ts';
import { StateStore } from './state-store.ts';
import {
  EvaluationStore,
  type IdentifiedExecution,
  type Identity,
  identityKey,
  isFlakyRule,
  type VerdictRule,
} from './store.ts';
import { judgeAllRuns, Troubles } from './troubles.ts';

/**
 * Runs of one commit are almost always this close together, and so is everything that makes a failure a repetition.
 */
const EDGE_MS = REPETITION_REACH_MS;

/** The end of the newest month that a repository's baselines have moved past; far back when there is none. */
async function lastMonthGone(db: Database, repositoryId: string): Promise<number> {
  const newestAt = await onPostgres(() => newestBaseline(db, repositoryId));
  return newestAt === null ? -TROUBLE_REACH_MS : endOfMonth(newestAt);
}

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
 * Returns a sentence for every difference.
 *
 * @param pending what is stored but not evaluated. It may change the verdicts and the health of the tests in it, and the
 *   trouble of runs since the first of them, with the tests that failed in such a run. These are not compared.
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
  let current: { id: string; troubles: Troubles; open: Quarantine[]; waiting: ReadonlySet<string> } | undefined;
  const shown = await testsWithExecutions(db, repositoryId);
  for await (const { repositoryId: id, testIds } of testsOnDefaultBranches(
    clickhouse,
    repositoryId,
    executionsAtOnce,
  )) {
    for (const testId of testIds) shown.delete(`${id}/${testId}`);
    if (current?.id !== id) {
      const runs = new RunStore(clickhouse, id);
      const stored = await runs.troubled(0);
      const judged = await judgeAllRuns(runs);
      // Of a run just after a month that has left, the passes before it may have left with that month, so its stored
      // trouble stands.
      const edge = (await lastMonthGone(db, id)) + TROUBLE_REACH_MS;
      const different = differentRuns(judged, stored).filter(({ run }) => run.day * DAY_MS >= edge);
      const tests = pending.get(id) ?? new Map<string, number>();
      const since = dayOf([...tests.values()].reduce((least, since) => Math.min(least, since), Number.MAX_VALUE));
      differences.push(...different.filter(({ run }) => run.day < since).map(({ sentence }) => sentence));
      const waiting = new Set(tests.keys());
      for (const { run } of different)
        if (run.day >= since) for (const testId of (await runs.failuresIn(run)).keys()) waiting.add(testId);
      const { quarantines: open } = await quarantines.snapshot(id);
      current = { id, troubles: new Troubles(stored.values()), open, waiting };
    }
    const { troubles, waiting } = current;
    const compared = testIds.filter((testId) => !waiting.has(testId));
    const stores = { executions: new EvaluationStore(clickhouse, id), states: new StateStore(db, id) };
    const deps = { clickhouse, repositoryId: id, ...stores };
    const found = await differencesOf(deps, troubles, compared, isEnabled.get(id) ?? true);
    differences.push(...found.differences);
    const open = current.open.filter((quarantine) => compared.includes(quarantine.testId));
    differences.push(...(await recoveryDifferences(new QuarantineEvidenceStore(clickhouse, id), found.states, open)));
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

interface VerifiedStores {
  clickhouse: ClickHouse;
  repositoryId: string;
  executions: EvaluationStore;
  states: StateStore;
}

async function differencesOf(
  { clickhouse, repositoryId, executions: store, states }: VerifiedStores,
  troubles: Troubles,
  testIds: string[],
  isFlakyDetectionEnabled: boolean,
): Promise<{ differences: string[]; states: IdentityState[] }> {
  const history = await readHistory(clickhouse, repositoryId, testIds);
  const groups = await readGroups(clickhouse, repositoryId, testIds);
  const fingerprints = await store.fingerprints(testIds, 0);
  const storedRules = new Map((await store.storedVerdicts(testIds, 0)).map((row) => [row.executionId, row.rule]));
  const stored = await states.readStates(testIds);
  const baselines = new Map((await states.read(testIds)).map((row) => [identityKey(identityOf(row)), row.baseline]));
  const differences: string[] = [];
  const changes: HealthChangeRecord[] = [];
  const found: IdentityState[] = [];
  for (const [testId, news] of history) {
    const rules = new Map<bigint, VerdictRule>();
    for (const { executions } of news.identities.values()) {
      const conclusive = executions.filter(({ status }) => status !== 'skipped');
      const [first] = conclusive;
      if (!first) continue;
      const judged = rulesOf(
        judge(conclusive, { troubles: troubles.of(first), fingerprints, isFlakyDetectionEnabled }),
      );
      const baseline = baselines.get(identityKey(identityOf(first)));
      for (const id of lostEvidence(conclusive, baseline)) keepStored(judged, id, storedRules.get(id));
      for (const { executionId } of conclusive) {
        const [is, was] = [judged.get(executionId), storedRules.get(executionId)];
        if (is !== undefined) rules.set(executionId, is);
        if (!isSameEvidence(is, was))
          differences.push(
            `execution ${executionId} of test ${testId} is ${described(is)}, but stored as ${described(was)}`,
          );
      }
    }
    const derived = deriveState(testId, news, rules, baselines);
    found.push(...derived.states);
    changes.push(...derived.changes);
    differences.push(...stateDifferences(derived, stored.get(testId)?.test, stored.get(testId)?.records ?? []));
  }
  const isKept = (change: HealthChangeRecord): boolean => {
    const baseline = baselines.get(identityKey(identityOf(change)))?.at;
    return baseline ? comparePositions(change.at, baseline) <= 0 : false;
  };
  differences.push(...changeDifferences(changes, await states.readChanges(testIds), isKept));
  differences.push(...groupDifferences(groups, await states.readGroups(testIds)));
  return { differences, states: found };
}

async function recoveryDifferences(
  evidence: QuarantineEvidenceStore,
  identities: readonly IdentityState[],
  open: readonly Quarantine[],
): Promise<string[]> {
  const found = await recoveryOf(evidence, recentIdentities(identities), open);
  return [...found].flatMap(([{ id, isRecovered: stored }, recoveries]) => {
    const is = isRecovered(recoveries.map((one) => one.evidence));
    return is === stored ? [] : [`quarantine ${id} has ${is ? '' : 'not '}recovered, but the opposite is stored`];
  });
}

const identityOf = ({ testId, pipelineName, jobName }: Identity): Identity => ({ testId, pipelineName, jobName });

const described = (rule: VerdictRule | undefined): string =>
  rule === undefined ? 'neither flaky nor held back' : isFlakyRule(rule) ? `flaky (${rule})` : 'held back';

function keepStored(rules: Map<bigint, VerdictRule>, id: bigint, stored: VerdictRule | undefined): void {
  if (stored === undefined) rules.delete(id);
  else rules.set(id, stored);
}

/**
 * Executions just after a month that has left. What decided on them may have left with it, so their stored verdicts
 * stand.
 */
function lostEvidence(executions: readonly IdentifiedExecution[], baseline: Fold | undefined): bigint[] {
  const edge = baseline?.at ? endOfMonth(baseline.at.finishedAt) + EDGE_MS : 0;
  return executions.filter((execution) => execution.finishedAt < edge).map((execution) => execution.executionId);
}

/** Runs whose trouble differs. */
function differentRuns(
  judged: ReadonlyMap<string, TroubledRun>,
  stored: ReadonlyMap<string, TroubledRun>,
): { run: TroubledRun; sentence: string }[] {
  return [...new Map([...judged, ...stored])].flatMap(([key, run]) => {
    const [is, was] = [judged.get(key)?.trouble ?? 'none', stored.get(key)?.trouble ?? 'none'];
    return is === was ? [] : [{ run, sentence: `the trouble of run ${key} is ${is}, but stored as ${was}` }];
  });
}
