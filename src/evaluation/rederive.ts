/** The state of tests and the verdicts on their executions, from everything that is retained of them. */
import { z } from 'zod';
import type { ClickHouse } from '../clickhouse/client.ts';
import { defineLongQuery } from '../clickhouse/query.ts';
import { judge } from '../domain/judge.ts';
import { emptySummary } from '../domain/test-state.ts';
import type { Database } from '../postgres/client.ts';
import type { QuarantineStore } from '../postgres/quarantines.ts';
import type { FirstFailure, IdentityRecord } from '../postgres/test-states.ts';
import type { TestGroup } from './all-tests.ts';
import { type DerivedState, deriveState } from './derived-state.ts';
import { rulesOf } from './evaluate.ts';
import { writeFold } from './fold.ts';
import type { Checkpoints, IdentityState } from './health.ts';
import { readGroups, readHistory } from './history.ts';
import { drawVersion, lockEvaluation } from './lock.ts';
import { QuarantineEvidenceStore } from './quarantine-evidence.ts';
import { judgeQuarantines } from './quarantines.ts';
import { RunStore } from './run-store.ts';
import { StateStore } from './state-store.ts';
import { EvaluationStore, identityKey, type Verdict, type VerdictRule } from './store.ts';
import { Troubles } from './troubles.ts';

const retainedSince = defineLongQuery('maintenance/retained_since', {}, z.object({ since_ms: z.number() }));

/** The start of the oldest retained month; milliseconds since the epoch. */
export async function oldestRetained(clickhouse: ClickHouse): Promise<number> {
  const [row] = await clickhouse.select(retainedSince, {});
  return row?.since_ms ?? 0;
}

export interface RederiveDeps {
  clickhouse: ClickHouse;
  db: Database;
  quarantines: QuarantineStore;
}

export interface RederiveOptions {
  isFlakyDetectionEnabled: boolean;
  /** See {@link oldestRetained}. First failures from before stay, because their executions have left. */
  retainedSince: number;
}

/**
 * Judges everything retained of some tests, and replaces what is stored. Troubled runs must be judged before, and every
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
    const { verdicts, states } = await db.transaction((tx) =>
      replaceStates(clickhouse, executions, new StateStore(tx, repositoryId), { repositoryId, testIds }, options),
    );
    await executions.writeVerdicts(verdicts, version);
    const evidence = new QuarantineEvidenceStore(clickhouse, repositoryId);
    await judgeQuarantines({ repositoryId, mode: 'off', quarantines, evidence }, states);
  });
}

async function replaceStates(
  clickhouse: ClickHouse,
  executions: EvaluationStore,
  states: StateStore,
  { repositoryId, testIds }: TestGroup,
  { isFlakyDetectionEnabled, retainedSince: since }: RederiveOptions,
): Promise<{ verdicts: Verdict[]; states: IdentityState[] }> {
  const history = await readHistory(clickhouse, repositoryId, testIds);
  const troubles = new Troubles((await new RunStore(clickhouse, repositoryId).troubled(0)).values());
  const fingerprints = await executions.fingerprints(testIds, 0);
  const stored = new Map(
    (await executions.storedVerdicts(testIds, 0)).map(({ executionId, rule }) => [executionId, rule]),
  );
  const known = await states.readStates(testIds);
  const checkpoints = Map.groupBy(await states.read(testIds), ({ testId }) => testId);
  const verdicts: Verdict[] = [];
  const derived: DerivedState[] = [];
  for (const [testId, news] of history) {
    const rules = new Map<bigint, VerdictRule>();
    for (const identity of news.identities.values()) {
      const conclusive = identity.executions.filter(({ status }) => status !== 'skipped');
      const [first] = conclusive;
      if (!first) continue;
      const judged = rulesOf(
        judge(conclusive, { troubles: troubles.of(first), fingerprints, isFlakyDetectionEnabled }),
      );
      for (const { executionId, finishedAt } of conclusive) {
        const rule = judged.get(executionId);
        if (rule !== undefined) rules.set(executionId, rule);
        if (rule !== stored.get(executionId)) verdicts.push({ testId, executionId, finishedAt, rule });
      }
    }
    const kept = checkpoints.get(testId) ?? [];
    const baselines = new Map(kept.map((row) => [identityKey(row), row.baseline]));
    const state = deriveState(testId, news, rules, baselines);
    derived.push({
      ...state,
      test: {
        ...state.test,
        firstFailure: remembered(known.get(testId)?.test?.firstFailure, since) ?? state.test.firstFailure,
      },
      identities: [...state.identities, ...outliving(kept, state.identities)],
    });
  }
  await states.replace(testIds, derived, await readGroups(clickhouse, repositoryId, testIds));
  return { verdicts, states: derived.flatMap((state) => state.states) };
}

const remembered = (known: FirstFailure | null | undefined, retainedSince: number): FirstFailure | undefined =>
  known && known.failedAt < retainedSince ? known : undefined;

/** Identities of which nothing is retained but their health. */
function outliving(checkpoints: readonly Checkpoints[], derived: readonly IdentityRecord[]): IdentityRecord[] {
  const retained = new Set(derived.map(identityKey));
  return checkpoints
    .filter(({ baseline, ...identity }) => baseline.at !== null && !retained.has(identityKey(identity)))
    .map(({ testId, pipelineName, jobName, baseline }) => ({
      testId,
      pipelineName,
      jobName,
      summary: emptySummary,
      health: baseline.state.health,
      fold: writeFold(baseline),
      checkpointAt: baseline.at?.finishedAt ?? 0,
    }));
}
