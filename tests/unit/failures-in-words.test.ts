import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { COMMIT_VERDICTS } from '../../src/domain/commit-verdict.ts';
import { type FailureCounts, failuresInWords } from '../../src/domain/failures-in-words.ts';
import { DAY_MS } from '../../src/domain/time.ts';

/** A Saturday. */
const NOW = Date.parse('2026-11-28T12:00:00Z');
const say = (counts: FailureCounts, more: Partial<Parameters<typeof failuresInWords>[0]> = {}) =>
  failuresInWords({ counts, defaultBranch: 'main', brokenSince: null, now: NOW, ...more });

describe('what failed on a commit, in one sentence', () => {
  test.each<[FailureCounts, string]>([
    [{}, 'Nothing failed; the gate passes.'],
    [{ new: 1 }, 'Probably your change: 1 failure, new; the gate fails.'],
    [{ new: 3 }, 'Probably your change: 3 failures, all new; the gate fails.'],
    [{ new: 1, quarantined: 2 }, 'Probably your change: 3 failures, 1 new, 2 quarantined; the gate fails.'],
    [{ quarantined: 1 }, 'Not your change: 1 failure, quarantined; the gate passes.'],
    [{ quarantined: 1_200 }, 'Not your change: 1,200 failures, all quarantined; the gate passes.'],
    [
      { broken: 1 },
      'Not your change: 1 failure, which also fails on main; the gate fails, unless it excuses broken tests.',
    ],
    [
      { broken: 4 },
      'Not your change: 4 failures, which all also fail on main; the gate fails, unless it excuses broken tests.',
    ],
    [
      { broken: 1, known_flaky: 1, quarantined: 1 },
      'Not your change: 3 failures, 1 also fails on main, 1 known to be flaky, 1 quarantined; the gate fails, unless it excuses flaky and broken tests.',
    ],
    [{ infrastructure: 40 }, 'Not your change: 40 failures, all caused by the infrastructure; the gate fails.'],
    [
      { unknown: 2, quarantined: 1 },
      'It is not known whose fault it is: 3 failures, 2 without a verdict, 1 quarantined; the gate fails.',
    ],
  ])('of %p is "%s"', (counts, sentence) => expect(say(counts)).toBe(sentence));

  test('names the day since which the default branch fails, and its name if it is known', () => {
    const since = (days: number) => say({ broken: 5, quarantined: 2 }, { brokenSince: NOW - days * DAY_MS });
    expect(since(4)).toBe(
      'Not your change: 7 failures, 5 also fail on main since Tuesday, 2 quarantined; the gate fails, unless it excuses broken tests.',
    );
    expect(since(0)).toContain('on main since today,');
    expect(since(1)).toContain('since yesterday,');
    expect(since(6)).toContain('since Sunday,');
    expect(since(7)).toContain('since 2026-11-21,');
    expect(say({ broken: 2 }, { defaultBranch: null })).toContain('also fail on the default branch;');
  });

  test('says what a gate has decided, if one has', () => {
    expect(say({ broken: 5 }, { isPassed: true })).toEndWith('; the gate passes.');
    expect(say({ quarantined: 5 }, { isPassed: false })).toEndWith('; the gate fails.');
  });

  test('blames the change if and only if something is new, and counts add up', () => {
    const counts = fc.record(
      Object.fromEntries([...COMMIT_VERDICTS, 'unknown'].map((one) => [one, fc.nat({ max: 999 })])),
    );
    fc.assert(
      fc.property(counts, (given) => {
        const sentence = say(given);
        expect(sentence.startsWith('Probably your change')).toBe((given.new ?? 0) > 0);
        const numbers = [...sentence.replaceAll(',', '').matchAll(/\d+/g)].map(Number);
        const [total = 0, ...parts] = numbers;
        expect(total).toBe(Object.values(given).reduce((sum, one) => sum + one, 0));
        if (parts.length > 0) expect(parts.reduce((sum, one) => sum + one, 0)).toBe(total);
      }),
    );
  });
});
