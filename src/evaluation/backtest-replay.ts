/** The replay of a policy on one test: the quarantines, and the regressions that they would have hidden. */
import { setImmediate as breathe } from 'node:timers/promises';
import { excusedBy, type ReplayedQuarantine, stepsOf, TestReplay } from '../domain/backtest.ts';
import { RulesJudge } from '../domain/backtest-judge.ts';
import { type BacktestPolicy, constantsOf } from '../domain/backtest-policy.ts';
import { firstSeenOf, type Regression, regressionsOf } from '../domain/backtest-regressions.ts';
import { comparePositions } from '../domain/execution.ts';
import { judge } from '../domain/judge.ts';
import { type IdentifiedExecution, identityKey } from './store.ts';
import type { Troubles } from './troubles.ts';

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
  troubles: Troubles;
  fingerprints: ReadonlyMap<bigint, string>;
}

export async function replay(
  { id, name }: { id: string; name: string },
  executions: readonly IdentifiedExecution[],
  options: ReplayOptions,
): Promise<ReplayedTest> {
  const isCut = executions.length >= EXECUTIONS_MAX;
  const ordered = executions.filter(({ finishedAt }) => finishedAt <= options.until).sort(comparePositions);
  const quarantines = await quarantinesOf(ordered, options);
  const hidden = quarantines.length === 0 ? [] : hiddenBy(quarantines, ordered, options);
  return { id, name, isCut, quarantines, hidden };
}

async function quarantinesOf(
  ordered: readonly IdentifiedExecution[],
  { policy, since, isFlakyDetectionEnabled, fingerprints, troubles }: ReplayOptions,
): Promise<readonly ReplayedQuarantine[]> {
  const rules = {
    mode: policy.auto_quarantine,
    constants: constantsOf(policy.constants),
    isNarrowed: policy.is_narrowed,
  };
  const judged = new RulesJudge(rules, {
    isFlakyDetectionEnabled,
    fingerprints,
    troublesOf: (place) => troubles.of(place),
  });
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
  { isFlakyDetectionEnabled, fingerprints, troubles }: ReplayOptions,
): HiddenRegression[] {
  const firstSeen = firstSeenOf(ordered, fingerprints);
  return [...Map.groupBy(ordered, identityKey).values()].flatMap((group) => {
    const [{ pipelineName, jobName }] = group as [IdentifiedExecution];
    const ofPlace = troubles.of({ pipelineName, jobName });
    const judged = judge(group, { isFlakyDetectionEnabled, fingerprints, troubles: ofPlace });
    return regressionsOf(group, judged, fingerprints, firstSeen).flatMap((regression) => {
      const quarantine = excusedBy(quarantines, regression.firstFailedAt, regression.failureIds);
      return quarantine ? [{ ...regression, pipelineName, jobName, quarantine }] : [];
    });
  });
}
