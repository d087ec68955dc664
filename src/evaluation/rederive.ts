/** The state of tests and the verdicts on their executions, from everything that is retained of them. */
import { z } from 'zod';
import type { ClickHouse } from '../clickhouse/client.ts';
import { defineLongQuery } from '../clickhouse/query.ts';
import type { KnownRuns } from '../domain/judge-runs.ts';
import { endOfMonth } from '../domain/retention.ts';
import type { Database, Executor } from '../postgres/client.ts';
import {
  forgetContradictions,
  insertContradictions,
  noteFailedCommits,
  readContradictions,
} from '../postgres/contradictions.ts';
import { newestBaseline } from '../postgres/health-checkpoints.ts';
import { forgetRuns, insertRuns, readMeanings } from '../postgres/judged-runs.ts';
import type { QuarantineStore } from '../postgres/quarantines.ts';
import type { FirstFailure } from '../postgres/test-states.ts';
import type { TestGroup } from './all-tests.ts';
import { beginningsIn } from './beginnings.ts';
import { type DerivedState, type DeriveOptions, deriveState } from './derived-state.ts';
import { conclusiveIn, readGroups, readHistory } from './history.ts';
import { judgeAllRuns } from './judge-all-runs.ts';
import { drawVersion, lockEvaluation } from './lock.ts';
import { readAllEvidence } from './pull-evidence.ts';
import { judgeQuarantines } from './quarantines.ts';
import { StateStore } from './state-store.ts';
import { EvaluationStore, type IdentityState, identityKey, type Verdict, writeVerdicts } from './store.ts';

const retainedSince = defineLongQuery('maintenance/retained_since', {}, z.object({ since_ms: z.number() }));

/** The start of the oldest retained month; milliseconds since the epoch. */
export async function oldestRetained(clickhouse: ClickHouse): Promise<number> {
  const [row] = await clickhouse.select(retainedSince, {});
  return row?.since_ms ?? 0;
}

/**
 * The end of the newest month of a repository that has left: the one that its baselines have moved past, or that nothing is
 * retained of anywhere.
 *
 * @param retainedSince see {@link oldestRetained}
 */
export async function endOfLastMonthGone(tx: Executor, repositoryId: string, retainedSince: number): Promise<number> {
  const newestAt = await newestBaseline(tx, repositoryId);
  return Math.max(retainedSince, newestAt === null ? 0 : endOfMonth(newestAt));
}

export interface RederiveDeps {
  clickhouse: ClickHouse;
  db: Database;
  quarantines: QuarantineStore;
}

/** Judges all retained runs of a repository again. Every stored block must be counted. */
export async function rejudgeRuns({ clickhouse, db }: RederiveDeps, repositoryId: string): Promise<void> {
  const retainedSince = await oldestRetained(clickhouse);
  await db.transaction(async (tx) => {
    await lockEvaluation(tx, repositoryId);
    const edge = await endOfLastMonthGone(tx, repositoryId, retainedSince);
    const since = { from: edge, to: Number.MAX_SAFE_INTEGER };
    const { failed, ...evidence } = await readAllEvidence({ clickhouse, repositoryId }, edge);
    await forgetContradictions(tx, repositoryId, since);
    await noteFailedCommits(tx, repositoryId, failed);
    await insertContradictions(tx, repositoryId, evidence.contradictions);
    await forgetRuns(tx, repositoryId, since);
    for await (const runs of judgeAllRuns(clickhouse, tx, { repositoryId, edge, evidence }))
      await insertRuns(tx, repositoryId, runs);
  });
}

export interface RederiveOptions {
  isFlakyDetectionEnabled: boolean;
  /** What the runs of the repository mean, if no block is evaluated meanwhile; otherwise they are read. */
  runs?: KnownRuns;
  /** See {@link oldestRetained}. First failures from before stay, because their executions have left. */
  retainedSince: number;
}

/**
 * Judges everything retained of some tests, and replaces what is stored. Their runs must be judged before, and every
 * stored block must be counted: one that is counted later would count twice.
 *
 * Recovery of quarantines follows. New quarantines are left to the next run of a test.
 */
export async function rederive(
  { clickhouse, db, quarantines }: RederiveDeps,
  { repositoryId, testIds }: TestGroup,
  options: RederiveOptions,
): Promise<void> {
  await db.transaction(async (locks) => {
    await lockEvaluation(locks, repositoryId);
    const version = await drawVersion(db);
    const executions = new EvaluationStore(clickhouse, repositoryId);
    const { verdicts, states } = await db.transaction(async (tx) => {
      const runs = options.runs ?? (await readMeanings(tx, repositoryId));
      const contradictions = Map.groupBy(await readContradictions(tx, repositoryId, testIds), identityKey);
      const stores = { clickhouse, executions, states: new StateStore(tx, repositoryId) };
      return replaceStates(stores, { repositoryId, testIds }, { ...options, runs, contradictions });
    });
    await writeVerdicts(clickhouse, [[repositoryId, verdicts]], version);
    await judgeQuarantines({ repositoryId, search: 'off', quarantines }, states);
  });
}

async function replaceStates(
  { clickhouse, executions, states }: { clickhouse: ClickHouse; executions: EvaluationStore; states: StateStore },
  { repositoryId, testIds }: TestGroup,
  { retainedSince: since, ...options }: Pick<RederiveOptions, 'retainedSince'> & Omit<DeriveOptions, 'checkpoints'>,
): Promise<{ verdicts: Verdict[]; states: IdentityState[] }> {
  const history = await readHistory(clickhouse, repositoryId, testIds);
  const stored = new Map((await executions.flakyExecutions(testIds, 0)).map((one) => [one.executionId, one]));
  const known = await states.readStates(testIds);
  const checkpoints = Map.groupBy(await states.readCheckpoints(testIds), (row) => row.testId);
  const verdicts: Verdict[] = [];
  const derived: DerivedState[] = [];
  for (const [testId, of] of history) {
    const state = deriveState(testId, of, { ...options, checkpoints: checkpoints.get(testId) ?? [] });
    for (const { executionId, finishedAt, isFlakyWithinRun: isFromSource } of conclusiveIn(of)) {
      const isFlaky = state.flaky.has(String(executionId));
      if (isFlaky !== stored.has(executionId))
        verdicts.push({ testId, executionId, finishedAt, isFromSource, isFlaky });
    }
    derived.push({
      ...state,
      test: {
        ...state.test,
        firstFailure: remembered(known.get(testId)?.test?.firstFailure, since) ?? state.test.firstFailure,
      },
    });
  }
  const groups = await readGroups(clickhouse, repositoryId, testIds);
  await states.replace(testIds, derived, groups, beginningsIn(clickhouse, repositoryId));
  return { verdicts, states: derived.flatMap((state) => state.states) };
}

const remembered = (known: FirstFailure | null | undefined, retainedSince: number): FirstFailure | undefined =>
  known && known.failedAt < retainedSince ? known : undefined;
