/** The replay of a policy on one test: the quarantines, and the regressions that they would have hidden. */
import { setImmediate as breathe } from 'node:timers/promises';
import { excusedBy, type ReplayedQuarantine, stepsOf, TestReplay } from '../domain/backtest.ts';
import { type JudgedClue, RulesCourse, type RulesEvidence, RulesJudge } from '../domain/backtest-judge.ts';
import { type BacktestPolicy, constantsOf } from '../domain/backtest-policy.ts';
import { firstSeenOf, type Regression, regressionsOf } from '../domain/backtest-regressions.ts';
import { comparePositions } from '../domain/execution.ts';
import { identityKey, type Leg, legOf } from '../domain/test-identity.ts';
import type { IdentifiedExecution } from '../evaluation/executions.ts';
import type { RunsOfExecutions } from './runs-of-executions.ts';

/** The newest executions of a test that a replay considers: 110 a day for 90 days. */
export const EXECUTIONS_MAX = 10_000;

/** The process does nothing else for so long. */
const SLICE_MS = 10;

export interface HiddenRegression extends Regression {
  pipelineName: string;
  jobName: string;
  quarantine: ReplayedQuarantine;
}

export interface ReplayedTest {
  id: string;
  name: string;
  /** Whether older executions were left out. */
  isCut: boolean;
  quarantines: readonly ReplayedQuarantine[];
  hidden: readonly HiddenRegression[];
}

export interface ReplayOptions {
  policy: BacktestPolicy;
  since: number;
  until: number;
  isFlakyDetectionEnabled: boolean;
  runs: RunsOfExecutions;
  fingerprints: ReadonlyMap<bigint, string>;
  /** By `identityKey`, in order. */
  clues: ReadonlyMap<string, readonly JudgedClue[]>;
}

export async function replay(
  { id, name }: { id: string; name: string },
  executions: readonly IdentifiedExecution[],
  options: ReplayOptions,
): Promise<ReplayedTest> {
  const isCut = executions.length >= EXECUTIONS_MAX;
  const ordered = executions
    .filter((one) => one.finishedAt <= options.until && options.runs.isJudged(one))
    .sort(comparePositions);
  const oldest = isCut ? (ordered[0]?.finishedAt ?? 0) : 0;
  const evidence = {
    isFlakyDetectionEnabled: options.isFlakyDetectionEnabled,
    fingerprints: options.fingerprints,
    meaningOf: (execution: IdentifiedExecution) => options.runs.of(execution)?.meaning,
    cluesOf: (leg: Leg) =>
      (options.clues.get(identityKey({ testId: id, ...leg })) ?? []).filter(
        ({ clue: { at } }) => at.finishedAt <= options.until && at.finishedAt >= oldest,
      ),
  };
  const quarantines = await quarantinesOf(ordered, options, evidence);
  const hidden = quarantines.length === 0 ? [] : hiddenBy(quarantines, ordered, evidence);
  return { id, name, isCut, quarantines, hidden };
}

async function quarantinesOf(
  ordered: readonly IdentifiedExecution[],
  { policy, since }: ReplayOptions,
  evidence: RulesEvidence<IdentifiedExecution>,
): Promise<readonly ReplayedQuarantine[]> {
  const rules = {
    mode: policy.auto_quarantine,
    constants: constantsOf(policy.constants),
    isNarrowed: policy.is_narrowed,
  };
  const judged = new RulesJudge(rules, evidence);
  const test = new TestReplay(judged, since);
  let pauseAt = performance.now() + SLICE_MS;
  for (const step of stepsOf(ordered)) {
    test.add(step);
    if (performance.now() < pauseAt) continue;
    await breathe();
    pauseAt = performance.now() + SLICE_MS;
  }
  return test.quarantines;
}

function hiddenBy(
  quarantines: readonly ReplayedQuarantine[],
  ordered: readonly IdentifiedExecution[],
  evidence: RulesEvidence<IdentifiedExecution>,
): HiddenRegression[] {
  const { fingerprints } = evidence;
  const firstSeen = firstSeenOf(ordered, fingerprints);
  return [...Map.groupBy(ordered, identityKey).values()].flatMap((group) => {
    const [first] = group as [IdentifiedExecution];
    const { pipelineName, jobName } = first;
    const course = new RulesCourse(legOf(first), evidence);
    for (const execution of group) course.add(execution);
    const heldBack = new Set([...course.causes].flatMap(([id, cause]) => (cause === 'run' ? [BigInt(id)] : [])));
    return regressionsOf(group, heldBack, fingerprints, firstSeen).flatMap((regression) => {
      const quarantine = excusedBy(quarantines, regression.firstFailedAt, regression.failureIds);
      return quarantine ? [{ ...regression, pipelineName, jobName, quarantine }] : [];
    });
  });
}
