/** Computes verdicts and health of every test from its executions and compares them with what is stored. */
import { z } from 'zod';
import type { ClickHouse } from '../clickhouse/client.ts';
import { defineLongQuery } from '../clickhouse/query.ts';
import { dayOf } from '../domain/infrastructure.ts';
import { judge } from '../domain/judge.ts';
import { TROUBLE_REACH_MS } from '../domain/judgement-constants.ts';
import { isRecovered } from '../domain/quarantine-rules.ts';
import { REPETITION_REACH_MS } from '../domain/repetition.ts';
import { endOfMonth } from '../domain/retention.ts';
import { DAY_MS } from '../domain/time.ts';
import type { Touched, TouchedTest } from '../ledger/block.ts';
import { type Database, onPostgres } from '../postgres/client.ts';
import type { Quarantine, QuarantineStore } from '../postgres/quarantines.ts';
import { repositories } from '../postgres/schema.ts';
import { testsOnDefaultBranches } from './all-tests.ts';
import { isSameEvidence, rulesOf } from './evaluate.ts';
import { beginning, continueFold } from './fold.ts';
import type { IdentityState } from './health.ts';
import { QuarantineEvidenceStore } from './quarantine-evidence.ts';
import { recentIdentities, recoveryOf } from './quarantines.ts';
import { RunStore, type TroubledRun } from './run-store.ts';
import {
  EvaluationStore,
  type HealthRow,
  type IdentifiedExecution,
  identityKey,
  isFlakyRule,
  type VerdictRule,
  verdictsOf,
} from './store.ts';
import { judgeAllRuns, Troubles } from './troubles.ts';

/**
 * Runs of one commit are almost always this close together, and so is everything that makes a failure a repetition.
 */
const EDGE_MS = REPETITION_REACH_MS;

const baselineEnd = defineLongQuery(
  'verify/baseline_end',
  { repository_id: 'UUID' },
  z.object({ newest_at_ms: z.number() }),
);

/** The end of the newest month that a repository's baselines have moved past; far back when there is none. */
async function lastMonthGone(clickhouse: ClickHouse, repositoryId: string): Promise<number> {
  const [row] = await clickhouse.select(baselineEnd, { repository_id: repositoryId });
  return row && row.newest_at_ms > 0 ? endOfMonth(row.newest_at_ms) : -TROUBLE_REACH_MS;
}

interface JudgementDeps {
  clickhouse: ClickHouse;
  db: Database;
  quarantines: QuarantineStore;
}

/**
 * Returns a sentence for every difference.
 *
 * @param pending what is stored but not evaluated. It may change the verdicts and the health of the tests in it, and the
 *   trouble of runs since the first of them, with the tests that failed in such a run. These are not compared.
 */
export async function verifyJudgements(
  { clickhouse, db, quarantines }: JudgementDeps,
  pending: Touched,
  repositoryId?: string,
): Promise<string[]> {
  const settings = await onPostgres(() =>
    db.select({ id: repositories.id, isEnabled: repositories.flakyDetectionEnabled }).from(repositories),
  );
  const isEnabled = new Map(settings.map((repository) => [repository.id, repository.isEnabled]));
  const differences: string[] = [];
  let current: { id: string; troubles: Troubles; open: Quarantine[]; waiting: ReadonlySet<string> } | undefined;
  for await (const { repositoryId: id, testIds } of testsOnDefaultBranches(clickhouse, repositoryId)) {
    if (current?.id !== id) {
      const runs = new RunStore(clickhouse, id);
      const stored = await runs.troubled(0);
      const judged = await judgeAllRuns(runs);
      // Of a run just after a month that has left, the passes before it may have left with that month, so its stored
      // trouble stands.
      const edge = (await lastMonthGone(clickhouse, id)) + TROUBLE_REACH_MS;
      const different = differentRuns(judged, stored).filter(({ run }) => run.day * DAY_MS >= edge);
      const tests = pending.get(id) ?? new Map<string, TouchedTest>();
      const since = dayOf([...tests.values()].reduce((least, test) => Math.min(least, test.since), Number.MAX_VALUE));
      differences.push(...different.filter(({ run }) => run.day < since).map(({ sentence }) => sentence));
      const waiting = new Set(tests.keys());
      for (const { run } of different)
        if (run.day >= since) for (const testId of (await runs.failuresIn(run)).keys()) waiting.add(testId);
      const { quarantines: open } = await quarantines.snapshot(id);
      current = { id, troubles: new Troubles(stored.values()), open, waiting };
    }
    const { troubles, waiting } = current;
    const compared = testIds.filter((testId) => !waiting.has(testId));
    const store = new EvaluationStore(clickhouse, id);
    const found = await differencesOf(store, troubles, compared, isEnabled.get(id) ?? true);
    differences.push(...found.differences);
    const open = current.open.filter((quarantine) => compared.includes(quarantine.testId));
    differences.push(...(await recoveryDifferences(new QuarantineEvidenceStore(clickhouse, id), found.states, open)));
  }
  return differences;
}

async function differencesOf(
  store: EvaluationStore,
  troubles: Troubles,
  testIds: string[],
  isFlakyDetectionEnabled: boolean,
): Promise<{ differences: string[]; states: IdentityState[] }> {
  const executions = await store.history(testIds, 0);
  const fingerprints = await store.fingerprints(testIds, 0);
  const storedRules = new Map((await store.storedVerdicts(testIds, 0)).map((row) => [row.executionId, row.rule]));
  const stored = new Map((await store.folds(testIds)).map((row) => [identityKey(row), row]));
  const differences: string[] = [];
  const states: IdentityState[] = [];
  for (const [key, group] of Map.groupBy(executions, identityKey)) {
    const [first] = group;
    if (!first) continue;
    const rules = rulesOf(judge(group, { troubles: troubles.of(first), fingerprints, isFlakyDetectionEnabled }));
    for (const id of lostEvidence(group, stored.get(key))) keepStored(rules, id, storedRules.get(id));
    for (const { executionId, testId } of group)
      if (!isSameEvidence(rules.get(executionId), storedRules.get(executionId)))
        differences.push(
          `execution ${executionId} of test ${testId} is ${described(rules.get(executionId))}, but stored as ${described(storedRules.get(executionId))}`,
        );
    const row = stored.get(key);
    const { end } = continueFold(row?.baseline ?? beginning(), group, verdictsOf(rules));
    const { testId, pipelineName, jobName } = first;
    states.push({ testId, pipelineName, jobName, newestAt: end.at?.finishedAt ?? 0, state: end.state });
    if (!row) differences.push(`${key} is ${end.state.health}, but no health is stored`);
    else if (row.health !== end.state.health)
      differences.push(`${key} is ${end.state.health}, but stored as ${row.health}`);
  }
  return { differences, states };
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
function lostEvidence(executions: readonly IdentifiedExecution[], stored: HealthRow | undefined): bigint[] {
  const edge = stored?.baseline.at ? endOfMonth(stored.baseline.at.finishedAt) + EDGE_MS : 0;
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
