/** The health of a test in words. No sentence says what a figure beside it denies. */
import type { ACTIVE_DAYS } from '../../src/domain/activity.ts';
import type { TestDetails } from '../../src/insights/details.ts';
import { formatProbability, formatShare } from '../ui/format.ts';
import { daysUpTo } from '../ui/utc.ts';

type Judged = Pick<
  TestDetails,
  | 'health_status'
  | 'is_active'
  | 'skipped_since'
  | 'health_probability'
  | 'health_confidence'
  | 'has_enough_runs'
  | 'last_conclusion'
  | 'failure_ratio'
  | 'flakiness_ratio'
  | 'success_ratio'
  | 'last_failure_at'
>;

/** The days of shares. */
const DAYS = 30;
/** Without a failure of its own, a flaky test is calm. */
const CALM_DAYS = 28 satisfies typeof ACTIVE_DAYS;
const NOT_YET = 'but has not passed often enough since to be called healthy.';

/** Explains the health of a test. The shares are of the last 30 days; a test may have been judged by older executions. */
export function inWords(test: Judged, now = Date.now()): string {
  const { health_status: health, failure_ratio: failed, flakiness_ratio: flaky, last_conclusion: last } = test;
  const isSkipped = test.skipped_since !== null;
  if (!isSkipped && failed + test.success_ratio === 0) return 'It has neither passed nor failed in the last 30 days.';
  const share = `${formatShare(failed)} of its executions failed in the last 30 days`;
  if (isSkipped)
    return `It is only skipped now, so that it is ${health} is from before${failed > 0 ? `: ${share}` : ''}.`;
  switch (health) {
    case 'broken':
      if (failed === 0) return `${withoutFailure(test, now)}, ${NOT_YET}`;
      return last === 'failed' ? `It keeps failing: ${share}.` : `${share}. It passed since, ${NOT_YET}`;
    case 'flaky':
      if (!test.is_active)
        return `It has not failed on its own in the last ${CALM_DAYS} days, ${NOT_YET}${failed > 0 ? ` ${share}.` : ''}`;
      if (flaky > 0)
        return `It passes and fails without a change to the code: ${formatShare(flaky)} of its executions were flaky in the last 30 days.`;
      return failed > 0
        ? `None of its executions was flaky in the last 30 days, ${NOT_YET} ${share}.`
        : `${withoutFailure(test, now)}, ${NOT_YET}`;
    case 'healthy':
      if (failed === 0) return `${withoutFailure(test, now)}.`;
      if (last === 'failed')
        return `It failed when it last ran, which is not enough to call it flaky or broken: ${share}.`;
      return last === 'passed' ? `It passes now: ${share}.` : `It was skipped when it last ran: ${share}.`;
  }
}

/** Retries hide failures from executions, and not from "Last failure". */
function withoutFailure({ last_failure_at: at }: Judged, now: number): string {
  const hasRetried = at !== null && Date.parse(at) >= daysUpTo(now, DAYS).start;
  return hasRetried
    ? 'It failed only in attempts of which a retry passed in the last 30 days'
    : 'It has not failed in the last 30 days';
}

/** How sure its health is. */
export function howSure(test: Judged): string {
  const { health_status: health, health_probability: probability, health_confidence: confidence } = test;
  if (probability === null) return 'It has not been judged yet.';
  const share = formatProbability(probability);
  if (!test.has_enough_runs)
    return `Its results are not enough to be sure: the probability that it is ${health} is ${share}.`;
  // A health stays until another is sure.
  if (health !== 'healthy' && probability < 0.5)
    return `It was ${health}, and is called so until it is surely something else: the probability that it still is ${health} is ${share}.`;
  switch (confidence) {
    case 'high':
      return `It is almost certainly ${health}: the probability is ${share}.`;
    case 'medium':
      return `It is probably ${health}: the probability is ${share}.`;
    case 'low':
      return `That it is ${health} is uncertain: the probability is ${share}.`;
  }
}
