/** Moves baselines past a month before it leaves, so that no fold needs its executions: health outlives retention. */
import { z } from 'zod';
import type { ClickHouse } from '../clickhouse/client.ts';
import { defineLongQuery } from '../clickhouse/query.ts';
import { comparePositions } from '../domain/execution.ts';
import { endOfMonth } from '../domain/retention.ts';
import type { Database, Executor } from '../postgres/client.ts';
import { continueFold } from './fold.ts';
import { drawVersion, lockEvaluation } from './lock.ts';
import { EvaluationStore, type HealthRow, identityKey } from './store.ts';

const TESTS_AT_ONCE = 500;

const testsOfMonth = defineLongQuery(
  'maintenance/tests_of_month',
  { month: 'UInt32' },
  z.object({ repository_id: z.string(), test_id: z.string() }),
);

/**
 * Folds the month beginning at `monthStart` into the baselines of all identities that ran in it. The transaction holds
 * the locks.
 */
export async function moveBaselines(
  clickhouse: ClickHouse,
  { db, tx }: { db: Database; tx: Executor },
  monthStart: number,
): Promise<void> {
  const monthEnd = endOfMonth(monthStart);
  const month = Number(new Date(monthStart).toISOString().slice(0, 7).replace('-', ''));
  const tests = await clickhouse.select(testsOfMonth, { month });
  for (const [repositoryId, group] of Map.groupBy(tests, (test) => test.repository_id)) {
    await lockEvaluation(tx, repositoryId);
    const store = new EvaluationStore(clickhouse, repositoryId);
    for (let from = 0; from < group.length; from += TESTS_AT_ONCE) {
      const testIds = group.slice(from, from + TESTS_AT_ONCE).map((test) => test.test_id);
      await store.writeHealth(await moved(store, testIds, monthStart, monthEnd), await drawVersion(db));
    }
  }
}

async function moved(
  store: EvaluationStore,
  testIds: string[],
  monthStart: number,
  monthEnd: number,
): Promise<HealthRow[]> {
  const known = await store.folds(testIds);
  const executions = (await store.history(testIds, monthStart)).filter((execution) => execution.finishedAt < monthEnd);
  const verdicts = await store.verdicts(testIds, monthStart);
  const byIdentity = Map.groupBy(executions, identityKey);
  return known.flatMap((fold) => {
    const group = byIdentity.get(identityKey(fold));
    if (!group) return [];
    const { end } = continueFold(fold.baseline, group, verdicts);
    // What the checkpoint lacks of this month leaves with it: no fold may continue from before the baseline.
    const isBehindBaseline =
      end.at !== null && (fold.checkpoint.at === null || comparePositions(fold.checkpoint.at, end.at) < 0);
    return [{ ...fold, baseline: end, checkpoint: isBehindBaseline ? end : fold.checkpoint }];
  });
}
