/** The words of the page of a test about its health. */
import { expect, test } from 'bun:test';
import { howSure, inWords } from '../../web/pages/test-health.ts';

const HEALTHY = {
  health_status: 'healthy',
  health_probability: 0.983,
  health_confidence: 'medium',
  has_enough_runs: true,
  last_conclusion: 'passed',
  failure_ratio: 0.1,
  flakiness_ratio: 0,
} as const;

test('a healthy test is said to pass only if it passed when it last ran', () => {
  expect(inWords(HEALTHY)).toBe('It passes now: 10% of its executions failed in the last 30 days.');
  expect(inWords({ ...HEALTHY, last_conclusion: 'failed', failure_ratio: 1 })).toBe(
    'It failed when it last ran, which is not enough to call it flaky or broken: 100% of its executions failed in the last 30 days.',
  );
  expect(inWords({ ...HEALTHY, failure_ratio: 0 })).toBe('It has not failed in the last 30 days.');
});

test('what is not known yet is said of the health that is shown', () => {
  expect(howSure({ ...HEALTHY, has_enough_runs: false })).toBe('It has run too rarely to know whether it is healthy.');
  expect(howSure({ ...HEALTHY, health_status: 'broken', health_probability: 0.4, has_enough_runs: false })).toBe(
    'It has run too rarely to know whether it is broken.',
  );
  expect(howSure({ ...HEALTHY, health_probability: null })).toBe('It has not been judged yet.');
});
