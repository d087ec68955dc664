/** The health of a test in words. */
import type { TestDetails } from '../../src/insights/details.ts';
import { formatProbability, formatShare } from '../ui/format.ts';

type Judged = Pick<
  TestDetails,
  | 'health_status'
  | 'health_probability'
  | 'health_confidence'
  | 'has_enough_runs'
  | 'last_conclusion'
  | 'failure_ratio'
  | 'flakiness_ratio'
>;

/** Explains the health of a test. The shares are of the last 30 days; a test may have been judged by older executions. */
export function inWords(test: Judged): string {
  const { health_status: health, failure_ratio: failed, flakiness_ratio: flaky, last_conclusion: last } = test;
  const share = `${formatShare(failed)} of its executions failed in the last 30 days.`;
  switch (health) {
    case 'broken':
      return failed > 0
        ? `It keeps failing: ${share}`
        : 'It has not failed in the last 30 days, but has not passed often enough since to be called healthy.';
    case 'flaky':
      return flaky > 0
        ? `It passes and fails without a change to the code: ${formatShare(flaky)} of its executions were flaky in the last 30 days.`
        : 'It has not been flaky in the last 30 days, but has not passed often enough since to be called healthy.';
    case 'healthy':
      if (failed === 0) return 'It has not failed in the last 30 days.';
      return last === 'failed'
        ? `It failed when it last ran, which is not enough to call it flaky or broken: ${share}`
        : `It passes now: ${share}`;
  }
}

/** How sure its health is. */
export function howSure(test: Judged): string {
  const { health_status: health, health_probability: probability, health_confidence: confidence } = test;
  if (probability === null) return 'It has not been judged yet.';
  if (!test.has_enough_runs) return `It has run too rarely to know whether it is ${health}.`;
  const share = formatProbability(probability);
  switch (confidence) {
    case 'high':
      return `It is almost certainly ${health}: the probability is ${share}.`;
    case 'medium':
      return `It is probably ${health}: the probability is ${share}.`;
    case 'low':
      return `That it is ${health} is uncertain: the probability is ${share}.`;
  }
}
