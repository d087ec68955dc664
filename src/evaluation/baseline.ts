/** Moves baselines past a month before it leaves, so that nothing needs its executions: what is believed outlives retention. */
import { z } from 'zod';
import type { ClickHouse } from '../clickhouse/client.ts';
import { defineLongQuery } from '../clickhouse/query.ts';
import { comparePositions } from '../domain/execution.ts';
import { followCourse, type KnownRuns } from '../domain/judge-runs.ts';
import { endOfMonth, monthOf } from '../domain/retention.ts';
import { POOLED_MS, USUAL_MS } from '../domain/run-trouble.ts';
import { HOUR_MS } from '../domain/time.ts';
import { type StoredBelief, unknownBelief } from '../postgres/belief-text.ts';
import type { Executor } from '../postgres/client.ts';
import type { Checkpoints } from '../postgres/health-checkpoints.ts';
import { forgetRuns, readMeanings } from '../postgres/judged-runs.ts';
import { lockEvaluation } from './lock.ts';
import { placeOf } from './news.ts';
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
 * of their summaries. Its runs leave, but for those that say what is usual in the month after it.
 */
export async function moveBaselines(clickhouse: ClickHouse, tx: Executor, monthStart: number): Promise<void> {
  const month = monthOf(monthStart);
  const tests = await clickhouse.select(testsOfMonth, { month });
  for (const [repositoryId, group] of Map.groupBy(tests, (test) => test.repository_id)) {
    await lockEvaluation(tx, repositoryId);
    const stores = {
      executions: new EvaluationStore(clickhouse, repositoryId),
      states: new StateStore(tx, repositoryId),
      runs: await readMeanings(tx, repositoryId),
    };
    for (let from = 0; from < group.length; from += TESTS_AT_ONCE) {
      const testIds = group.slice(from, from + TESTS_AT_ONCE).map((test) => test.test_id);
      await stores.states.writeCheckpoints(await moved(stores, testIds, monthStart));
      await stores.states.forgetMonth(testIds, month);
    }
    const to = endOfMonth(monthStart) - POOLED_MS - USUAL_MS - HOUR_MS;
    await forgetRuns(tx, repositoryId, { from: 0, to });
  }
}

async function moved(
  { executions: store, states, runs }: { executions: EvaluationStore; states: StateStore; runs: KnownRuns },
  testIds: string[],
  monthStart: number,
): Promise<Checkpoints[]> {
  const monthEnd = endOfMonth(monthStart);
  const known = new Map((await states.readCheckpoints(testIds)).map((row) => [identityKey(row), row]));
  const executions = (await store.history(testIds, monthStart)).filter((execution) => execution.finishedAt < monthEnd);
  return [...Map.groupBy(executions, identityKey)].flatMap(([key, group]) => {
    const [first] = group;
    if (!first) return [];
    const { testId, pipelineName, jobName } = first;
    const row = known.get(key);
    const start = row?.baseline ?? unknownBelief();
    const { at, belief } = followCourse(
      { ...start, place: placeOf(first), executions: group, contradictions: [] },
      runs,
    );
    const end = { at, belief };
    // What a checkpoint lacks of this month leaves with it: nothing may continue from before the baseline.
    const kept = (place: StoredBelief | undefined): StoredBelief =>
      place?.at && end.at && comparePositions(place.at, end.at) > 0 ? place : end;
    return [{ testId, pipelineName, jobName, baseline: end, older: kept(row?.older), newer: kept(row?.newer) }];
  });
}
