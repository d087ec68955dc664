/** Computes verdicts and health of every test from its executions and compares them with what is stored. */
import { z } from 'zod';
import type { ClickHouse } from '../clickhouse/client.ts';
import { defineLongQuery } from '../clickhouse/query.ts';
import { judge } from '../domain/judge.ts';
import { TROUBLE_REACH_MS } from '../domain/judgement-constants.ts';
import { isRecovered } from '../domain/quarantine-rules.ts';
import { REPETITION_REACH_MS } from '../domain/repetition.ts';
import { endOfMonth } from '../domain/retention.ts';
import { DAY_MS } from '../domain/time.ts';
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

/** Returns a sentence for every difference. */
export async function verifyJudgements(
  { clickhouse, db, quarantines }: { clickhouse: ClickHouse; db: Database; quarantines: QuarantineStore },
  repositoryId?: string,
): Promise<string[]> {
  const settings = await onPostgres(() =>
    db.select({ id: repositories.id, isEnabled: repositories.flakyDetectionEnabled }).from(repositories),
  );
  const isEnabled = new Map(settings.map((repository) => [repository.id, repository.isEnabled]));
  const differences: string[] = [];
  let current: { id: string; troubles: Troubles; open: Quarantine[] } | undefined;
  for await (const { repositoryId: id, testIds } of testsOnDefaultBranches(clickhouse, repositoryId)) {
    if (current?.id !== id) {
      const runs = new RunStore(clickhouse, id);
      const stored = await runs.troubled(0);
      const judged = await judgeAllRuns(runs);
      differences.push(...runDifferences(judged, stored, (await lastMonthGone(clickhouse, id)) + TROUBLE_REACH_MS));
      const { quarantines: open } = await quarantines.snapshot(id);
      current = { id, troubles: new Troubles(stored.values()), open };
    }
    const store = new EvaluationStore(clickhouse, id);
    const found = await differencesOf(store, current.troubles, testIds, isEnabled.get(id) ?? true);
    differences.push(...found.differences);
    const open = current.open.filter((quarantine) => testIds.includes(quarantine.testId));
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

/**
 * Runs whose trouble differs. Of a run just after a month that has left, the passes before it may have left with that
 * month, so its stored trouble stands.
 */
function runDifferences(
  judged: ReadonlyMap<string, TroubledRun>,
  stored: ReadonlyMap<string, TroubledRun>,
  edge: number,
): string[] {
  return [...new Set([...judged.keys(), ...stored.keys()])].flatMap((key) => {
    const run = stored.get(key) ?? judged.get(key);
    if (run && run.day * DAY_MS < edge) return [];
    const [is, was] = [judged.get(key)?.trouble ?? 'none', stored.get(key)?.trouble ?? 'none'];
    return is === was ? [] : [`the trouble of run ${key} is ${is}, but stored as ${was}`];
  });
}
