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
import {
  forgetContradictions,
  type IdentifiedContradiction,
  readContradictionsBetween,
  repositoriesWithContradictions,
} from '../postgres/contradictions.ts';
import type { Checkpoints } from '../postgres/health-checkpoints.ts';
import { forgetRuns, readMeanings } from '../postgres/judged-runs.ts';
import { forgetMonth } from './forget-month.ts';
import { lockEvaluation } from './lock.ts';
import { placeOf } from './news.ts';
import { StateStore } from './state-store.ts';
import { EvaluationStore, type Identity, identityKey } from './store.ts';

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
  const ran = Map.groupBy(tests, (test) => test.repository_id);
  const span = { from: monthStart, to: endOfMonth(monthStart) };
  const repositoryIds = new Set([...ran.keys(), ...(await repositoriesWithContradictions(tx))]);
  // In order of id: all processes lock alike.
  for (const repositoryId of [...repositoryIds].sort()) {
    await lockEvaluation(tx, repositoryId);
    const contradictions = await readContradictionsBetween(tx, repositoryId, span);
    const group = new Set((ran.get(repositoryId) ?? []).map((test) => test.test_id));
    for (const { testId } of contradictions) group.add(testId);
    const stores = {
      executions: new EvaluationStore(clickhouse, repositoryId),
      states: new StateStore(tx, repositoryId),
      runs: await readMeanings(tx, repositoryId),
      contradictions: Map.groupBy(contradictions, identityKey),
    };
    for (let from = 0; from < group.size; from += TESTS_AT_ONCE) {
      const testIds = [...group].slice(from, from + TESTS_AT_ONCE);
      await stores.states.writeCheckpoints(await moved(stores, testIds, monthStart));
      await forgetMonth(tx, repositoryId, testIds, month);
    }
    const to = endOfMonth(monthStart) - POOLED_MS - USUAL_MS - HOUR_MS;
    await forgetRuns(tx, repositoryId, { from: 0, to });
    await forgetContradictions(tx, repositoryId, { from: 0, to: span.to });
  }
}

interface MovedStores {
  executions: EvaluationStore;
  states: StateStore;
  runs: KnownRuns;
  /** Of the month, by `identityKey`. */
  contradictions: ReadonlyMap<string, readonly IdentifiedContradiction[]>;
}

async function moved(
  { executions: store, states, runs, contradictions }: MovedStores,
  testIds: string[],
  monthStart: number,
): Promise<Checkpoints[]> {
  const monthEnd = endOfMonth(monthStart);
  const asked = new Set(testIds);
  const known = new Map((await states.readCheckpoints(testIds)).map((row) => [identityKey(row), row]));
  const executions = (await store.history(testIds, monthStart)).filter((execution) => execution.finishedAt < monthEnd);
  const byIdentity = Map.groupBy(executions, identityKey);
  const identities = new Map<string, Identity>();
  for (const [key, [one]] of [...contradictions, ...byIdentity])
    if (one && asked.has(one.testId)) identities.set(key, one);
  const stateless = new Set(identities.keys());
  for (const { records } of (await states.readStates(testIds)).values())
    for (const record of records) stateless.delete(identityKey(record));
  return [...identities].map(([key, identity]) => {
    const { testId, pipelineName, jobName } = identity;
    const of = { executions: byIdentity.get(key) ?? [], contradictions: contradictions.get(key) ?? [] };
    const row = known.get(key);
    const start = row?.baseline ?? unknownBelief();
    const { at, belief } = followCourse({ ...start, place: placeOf(identity), ...of }, runs);
    const end = { at, belief };
    // It has never run on the default branch: only what pull requests showed of it is known.
    if (stateless.has(key)) {
      const unknown = unknownBelief();
      return { testId, pipelineName, jobName, baseline: end, older: unknown, newer: unknown };
    }
    // What a checkpoint lacks of this month leaves with it: nothing may continue from before the baseline.
    const kept = (place: StoredBelief | undefined): StoredBelief =>
      place?.at && end.at && comparePositions(place.at, end.at) > 0 ? place : end;
    return { testId, pipelineName, jobName, baseline: end, older: kept(row?.older), newer: kept(row?.newer) };
  });
}
