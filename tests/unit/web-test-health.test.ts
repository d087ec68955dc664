/** The words of the page of a test: no sentence denies a figure beside it. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { LEVELS } from '../../src/domain/health-confidence.ts';
import { HEALTHS, STATUSES } from '../../src/domain/status.ts';
import { evidenceInWords } from '../../web/pages/evidence-words.ts';
import { howSure, inWords } from '../../web/pages/test-health.ts';
import { reasonInWords, unchangedInWords } from '../../web/pages/test-reason-words.ts';
import { effectInWords } from '../../web/ui/effect-words.ts';

const NOW = Date.parse('2026-11-22T12:00:00Z');
const HEALTHY = {
  health_status: 'healthy',
  is_active: false,
  skipped_since: null,
  health_probability: 0.983,
  health_confidence: 'medium',
  has_enough_runs: true,
  last_conclusion: 'passed',
  failure_ratio: 0.1,
  flakiness_ratio: 0,
  success_ratio: 0.9,
  last_failure_at: '2026-11-20T12:00:00Z',
} as const;
const NEVER = { ...HEALTHY, failure_ratio: 0, success_ratio: 1, last_failure_at: null } as const;

test('a healthy test is said to pass only if it passed when it last ran', () => {
  expect(inWords(HEALTHY, NOW)).toBe('It passes now: 10% of its executions failed in the last 30 days.');
  expect(inWords({ ...HEALTHY, last_conclusion: 'failed', failure_ratio: 1, success_ratio: 0 }, NOW)).toBe(
    'It failed when it last ran, which is not enough to call it flaky or broken: 100% of its executions failed in the last 30 days.',
  );
  expect(inWords({ ...HEALTHY, last_conclusion: 'skipped' }, NOW)).toStartWith('It was skipped when it last ran');
  expect(inWords(NEVER, NOW)).toBe('It has not failed in the last 30 days.');
  expect(inWords({ ...NEVER, last_failure_at: '2026-11-20T12:00:00Z' }, NOW)).toBe(
    'It failed only in attempts of which a retry passed in the last 30 days.',
  );
});

test('a calm flaky test is said to be calm, and one that is only skipped to be judged by what was before', () => {
  const flaky = { ...NEVER, health_status: 'flaky' } as const;
  expect(inWords(flaky, NOW)).toBe(
    'It has not failed on its own in the last 28 days, but has not passed often enough since to be called healthy.',
  );
  expect(inWords({ ...flaky, is_active: true }, NOW)).not.toContain('on its own');
  const skipped = { ...flaky, skipped_since: '2026-10-01T12:00:00Z', last_conclusion: 'skipped' } as const;
  expect(inWords(skipped, NOW)).toBe('It is only skipped now, so that it is flaky is from before.');
});

test('what is not known yet is said of the health that is shown', () => {
  expect(howSure({ ...HEALTHY, health_probability: 0.803, has_enough_runs: false })).toBe(
    'Its results are not enough to be sure: the probability that it is healthy is 80.3%.',
  );
  expect(howSure({ ...HEALTHY, health_probability: null })).toBe('It has not been judged yet.');
  expect(howSure({ ...HEALTHY, health_status: 'flaky', health_probability: 0.197, health_confidence: 'low' })).toBe(
    'It was flaky, and is called so until it is surely something else: the probability that it still is flaky is 19.7%.',
  );
});

/** Executions of the last 30 days, and what the API says of them. */
const figures = fc
  .record({
    health_status: fc.constantFrom(...HEALTHS),
    is_active: fc.boolean(),
    skipped_since: fc.option(fc.constant('2026-10-01T12:00:00Z')),
    health_probability: fc.option(fc.integer({ min: 0, max: 1_000 }).map((one) => one / 1_000)),
    health_confidence: fc.constantFrom(...LEVELS),
    has_enough_runs: fc.boolean(),
    last_conclusion: fc.constantFrom(...STATUSES),
    passed: fc.nat({ max: 200 }),
    failed: fc.nat({ max: 50 }),
    flaky: fc.nat({ max: 50 }),
    days: fc.option(fc.nat({ max: 60 })),
  })
  .map(({ passed, failed, flaky, days, ...judged }) => {
    const all = passed + failed;
    const share = (count: number): number => (all === 0 ? 0 : Math.min(1, count / all));
    // A failed execution of these days is a failure of these days.
    const last = failed > 0 ? Math.min(days ?? 0, 29) : days;
    return {
      ...judged,
      failure_ratio: share(failed),
      success_ratio: all === 0 ? 0 : 1 - share(failed),
      flakiness_ratio: share(flaky),
      last_failure_at: last === null ? null : new Date(NOW - last * 86_400_000).toISOString(),
    };
  });

describe('whatever the figures, the sentences', () => {
  test('deny neither the last result, nor a share, nor the last failure', () => {
    fc.assert(
      fc.property(figures, (test) => {
        const text = inWords(test, NOW);
        const isRecent = test.last_failure_at !== null && Date.parse(test.last_failure_at) > NOW - 29 * 86_400_000;
        if (text.includes('It has not failed in the last 30 days')) {
          expect(test.failure_ratio).toBe(0);
          expect(isRecent).toBe(false);
        }
        if (text.includes('It keeps failing') || text.includes('It failed when it last ran'))
          expect(test.last_conclusion).toBe('failed');
        if (text.includes('It passes now')) expect(test.last_conclusion).toBe('passed');
        if (text.includes('neither passed nor failed')) expect(test.failure_ratio + test.success_ratio).toBe(0);
        if (text.includes('was flaky in the last')) expect(test.flakiness_ratio).toBe(0);
        // Only shares that are there are told.
        if (test.failure_ratio > 0 && test.flakiness_ratio === 0)
          expect(text).toContain('executions failed in the last');
        expect(text).toEndWith('.');
        expect(text).not.toMatch(/NaN|undefined|\.\.|, \./);
      }),
    );
  });

  test('never call probable what is not, nor count runs that they do not know', () => {
    fc.assert(
      fc.property(figures, (test) => {
        const text = howSure(test);
        if (/almost certainly|probably/.test(text)) expect(test.has_enough_runs).toBe(true);
        if (text.startsWith('It was ')) expect(test.health_probability).toBeLessThan(0.5);
        if (test.health_probability !== null) expect(text).toMatch(/\d%/);
        expect(text).not.toContain('too rarely');
      }),
    );
  });

  test('of a failure on a commit, and of a quarantine, agree with their counts', () => {
    const count = fc.nat({ max: 3 });
    fc.assert(
      fc.property(count, count, count, fc.option(fc.constantFrom(...HEALTHS)), (failures, passes, before, health) => {
        const text = evidenceInWords({
          ...{ commit_failures: failures, commit_passes: passes, health_status: health },
          default_branch_failures: health === null ? 0 : before,
          ...{ failing_pull_requests: passes, health_began_at: null, health_ended_at: null, trouble: null },
        });
        expect(text.includes('Also fails on 1 other pull request.')).toBe(passes === 1);
        expect(text.includes('Also fails')).toBe(passes > 0);
        expect(text).toContain(`Failed ${failures}× and passed ${passes}× here`);
        expect(text.includes('never run')).toBe(health === null);
        expect(text.includes('healthy then')).toBe(health === 'healthy' && before > 0);
        const effect = effectInWords({ failed_executions: failures, red_runs: passes, spared_runs: before });
        expect(effect.includes('nothing')).toBe(failures === 0);
        if (passes === 1) expect(effect).not.toContain('1 red runs');
      }),
    );
  });

  test('of a failure on a commit say in which leg the test is healthy', () => {
    const evidence = {
      commit_failures: 1,
      commit_passes: 0,
      default_branch_failures: 7,
      health_status: 'healthy',
      ...{ failing_pull_requests: null, health_began_at: null, health_ended_at: null, trouble: null },
    } as const;
    expect(evidenceInWords(evidence)).toEndWith('7× on the default branch, where the test was healthy then.');
    expect(evidenceInWords(evidence, { os: 'linux', python: '3.12' })).toEndWith(
      'where the test was healthy then in os=linux, python=3.12.',
    );
  });

  test('of a failure on a commit say how long the default branch was broken, and what shows trouble', () => {
    const evidence = {
      ...{ commit_failures: 1, commit_passes: 0, default_branch_failures: 7 },
      health_status: 'broken',
      ...{
        failing_pull_requests: 14,
        health_began_at: '2026-03-02T08:00:00.000Z',
        health_ended_at: null,
        trouble: null,
      },
    } as const;
    expect(evidenceInWords(evidence)).toMatch(/7× on the default branch, where it is broken since .*2\b.*14 other/);
    const fixed = { ...evidence, health_ended_at: '2026-03-04T08:00:00.000Z' };
    expect(evidenceInWords(fixed)).toMatch(/where it was broken from .*2\b.* to .*4\b/);
    const trouble = { sign: 'same_failures', other_changes: 3, on_default_branch: true } as const;
    expect(evidenceInWords({ ...evidence, trouble })).toContain(
      'The same tests failed alike on 3 other changes and the default branch at the time.',
    );
    const rerun = { sign: 'rerun', other_changes: 0, on_default_branch: false } as const;
    expect(evidenceInWords({ ...evidence, trouble: rerun })).toContain('passed when the job ran again.');
  });

  test('of a reason tell passes that there were, and no change that is not known', () => {
    const count = fc.nat({ max: 300 });
    const one = fc.record({
      health_status: fc.constantFrom(...HEALTHS),
      health_probability: fc.double({ min: 0, max: 1, noNaN: true }),
      has_enough_runs: fc.boolean(),
      flaky_rate: fc.double({ min: 0, max: 1, noNaN: true }),
      executions_count: count,
      flaky_count: count,
      held_back_count: count,
      clean_passes: fc.nat({ max: 3 }),
      clean_passes_needed: fc.option(count),
    });
    fc.assert(
      fc.property(one, (reason) => {
        const text = reasonInWords(reason);
        expect(text).not.toMatch(/ 0 times|not enough runs|NaN|null/);
        if (text.includes('in a row at the first attempt')) expect(reason.clean_passes).toBeGreaterThan(0);
        expect(unchangedInWords(reason.health_status)).not.toContain('never');
      }),
    );
  });
});
