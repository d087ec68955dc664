/** Moves baselines past a month before it leaves, so that no fold needs its executions: health outlives retention. */
import { z } from 'zod';
import type { ClickHouse } from '../clickhouse/client.ts';
import { defineLongQuery } from '../clickhouse/query.ts';
import { comparePositions } from '../domain/execution.ts';
import { endOfMonth, monthOf } from '../domain/retention.ts';
import type { Executor } from '../postgres/client.ts';
import { beginning, continueFold, type Fold } from './fold.ts';
import type { Checkpoints } from './health.ts';
import { lockEvaluation } from './lock.ts';
import { StateStore } from './state-store.ts';
import { EvaluationStore, identityKey } from './store.ts';

const TESTS_AT_ONCE = 500;

const testsOfMonth = defineLongQuery(
  'maintenance/tests_of_month',
  { month: 'UInt32' },
  z.object({ repository_id: z.string(), test_id: z.string() }),
);

/**
 * Folds the month beginning at `monthStart` into the baselines of all identities that ran in it, and takes the month out
 * of their summaries.
 */
export async function moveBaselines(clickhouse: ClickHouse, tx: Executor, monthStart: number): Promise<void> {
  const month = monthOf(monthStart);
  const tests = await clickhouse.select(testsOfMonth, { month });
  for (const [repositoryId, group] of Map.groupBy(tests, (test) => test.repository_id)) {
    await lockEvaluation(tx, repositoryId);
    const executions = new EvaluationStore(clickhouse, repositoryId);
    const states = new StateStore(tx, repositoryId);
    for (let from = 0; from < group.length; from += TESTS_AT_ONCE) {
      const testIds = group.slice(from, from + TESTS_AT_ONCE).map((test) => test.test_id);
      await states.write(await moved({ executions, states }, testIds, monthStart));
      await states.forgetMonth(testIds, month);
    }
  }
}

async function moved(
  { executions: store, states }: { executions: EvaluationStore; states: StateStore },
  testIds: string[],
  monthStart: number,
): Promise<Checkpoints[]> {
  const monthEnd = endOfMonth(monthStart);
  const known = new Map((await states.read(testIds)).map((row) => [identityKey(row), row]));
  const executions = (await store.history(testIds, monthStart)).filter((execution) => execution.finishedAt < monthEnd);
  const verdicts = await store.verdicts(testIds, monthStart);
  return [...Map.groupBy(executions, identityKey)].flatMap(([key, group]) => {
    const [first] = group;
    if (!first) return [];
    const { testId, pipelineName, jobName } = first;
    const row = known.get(key);
    const { end } = continueFold(row?.baseline ?? beginning(), group, verdicts);
    // What a checkpoint lacks of this month leaves with it: no fold may continue from before the baseline.
    const kept = (fold: Fold | undefined): Fold =>
      fold?.at && end.at && comparePositions(fold.at, end.at) > 0 ? fold : end;
    return [{ testId, pipelineName, jobName, baseline: end, older: kept(row?.older), newer: kept(row?.newer) }];
  });
}
