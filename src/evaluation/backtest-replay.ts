/** The replay of a policy on one test: the quarantines, and the regressions that they would have hidden. */
import { setImmediate as breathe } from 'node:timers/promises';
import { excusedBy, type ReplayedQuarantine, stepsOf, TestReplay } from '../domain/backtest.ts';
import { addTo, RulesJudge } from '../domain/backtest-judge.ts';
import { type BacktestPolicy, constantsOf } from '../domain/backtest-policy.ts';
import { firstSeenOf, type Regression, regressionsOf } from '../domain/backtest-regressions.ts';
import { newBelief } from '../domain/belief.ts';
import { BeliefCourse } from '../domain/belief-course.ts';
import { comparePositions } from '../domain/execution.ts';
import type { RunsOfExecutions } from './runs-of-executions.ts';
import { type IdentifiedExecution, identityKey } from './store.ts';

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
  const quarantines = await quarantinesOf(ordered, options);
  const hidden = quarantines.length === 0 ? [] : hiddenBy(quarantines, ordered, options);
  return { id, name, isCut, quarantines, hidden };
}

async function quarantinesOf(
  ordered: readonly IdentifiedExecution[],
  { policy, since, isFlakyDetectionEnabled, fingerprints, runs }: ReplayOptions,
): Promise<readonly ReplayedQuarantine[]> {
  const rules = {
    mode: policy.auto_quarantine,
    constants: constantsOf(policy.constants),
    isNarrowed: policy.is_narrowed,
  };
  const meaningOf = (execution: IdentifiedExecution) => runs.of(execution)?.meaning;
  const judged = new RulesJudge(rules, { isFlakyDetectionEnabled, fingerprints, meaningOf });
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
  { fingerprints, runs }: ReplayOptions,
): HiddenRegression[] {
  const firstSeen = firstSeenOf(ordered, fingerprints);
  return [...Map.groupBy(ordered, identityKey).values()].flatMap((group) => {
    const [{ pipelineName, jobName }] = group as [IdentifiedExecution];
    const course = new BeliefCourse({ belief: newBelief(), at: null });
    for (const execution of group) addTo(course, execution, { meaningOf: (one) => runs.of(one)?.meaning });
    const heldBack = new Set([...course.causes].flatMap(([id, cause]) => (cause === 'run' ? [BigInt(id)] : [])));
    return regressionsOf(group, heldBack, fingerprints, firstSeen).flatMap((regression) => {
      const quarantine = excusedBy(quarantines, regression.firstFailedAt, regression.failureIds);
      return quarantine ? [{ ...regression, pipelineName, jobName, quarantine }] : [];
    });
  });
}
