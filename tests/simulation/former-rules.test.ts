/** The rules before the filter, as a baseline: they must say what they said, mistakes included. */
import { describe, expect, test } from 'bun:test';
import type { Health } from '../../src/domain/status.ts';
import { HOUR_MS } from '../../src/domain/time.ts';
import { FormerRules } from './former-rules.ts';
import type { Trouble } from './history.ts';

const TESTS = 20;
const EVERY = Array.from({ length: TESTS }, (_, identity) => identity);
const failure: Trouble = { message: 'boom', isPassedOnRetry: false };
const retried: Trouble = { message: 'boom', isPassedOnRetry: true };

/** Plays runs of twenty tests, three hours apart; what each run is given: its commit, and what went wrong in it. */
function afterRuns(...runs: readonly (readonly [commit: string, troubles: ReadonlyMap<number, Trouble>])[]) {
  const rules = new FormerRules();
  for (const [i, [commit, troubles]] of runs.entries()) {
    const at = (i + 1) * 3 * HOUR_MS;
    const run = { id: `${i}`, attempt: 1, job: 0, commit, isDefaultBranch: true, at, identities: EVERY, troubles };
    rules.takeIn(run);
    rules.settle(at);
  }
  return rules;
}
const healthAfter = (...results: readonly (readonly [commit: string, trouble?: Trouble])[]): Health =>
  afterRuns(...results.map(([commit, one]) => [commit, new Map(one && [[0, one]])] as const)).health(0);
const fail = (tests: readonly number[]) => new Map(tests.map((identity) => [identity, failure]));

describe('the former rules', () => {
  test('call a test broken after one failure, and healthy after two passing runs', () => {
    expect(healthAfter(['a'], ['b', failure])).toBe('broken');
    expect(healthAfter(['a'], ['b', failure], ['c'])).toBe('broken');
    expect(healthAfter(['a'], ['b', failure], ['c'], ['d'])).toBe('healthy');
  });

  test('call a test flaky that passed and failed on one commit, or passed on a retry', () => {
    expect(healthAfter(['a', failure], ['a'])).toBe('flaky');
    expect(healthAfter(['a', retried])).toBe('flaky');
  });

  test('call a test flaky that fails alike on two commits between passes, but not with another message', () => {
    expect(healthAfter(['a'], ['b', failure], ['c'], ['d', failure], ['e'])).toBe('flaky');
    expect(healthAfter(['a'], ['b', failure], ['c'], ['d', { ...failure, message: 'other' }], ['e'])).toBe('broken');
  });

  test('call a flaky test broken on its third failing commit, and healthy after enough clean passes', () => {
    const flaky = [['a', failure], ['a']] as const;
    expect(healthAfter(...flaky, ['b', failure], ['c', failure])).toBe('flaky');
    expect(healthAfter(...flaky, ['b', failure], ['c', failure], ['d', failure])).toBe('broken');
    const passes = Array.from({ length: 40 }, (_, i) => [`p${i}`] as const);
    expect(healthAfter(...flaky, ...passes.slice(0, 20))).toBe('flaky');
    expect(healthAfter(...flaky, ...passes)).toBe('healthy');
  });

  test('hold back what fails in a run in which half of the tests fails, until the next run', () => {
    const half = EVERY.slice(0, TESTS / 2);
    expect(afterRuns(['a', fail([])], ['b', fail(half)]).health(0)).toBe('healthy');
    expect(afterRuns(['a', fail([])], ['b', fail(half)], ['c', fail([0])]).health(0)).toBe('broken');
    expect(afterRuns(['a', fail([])], ['b', fail(EVERY)], ['c', fail(EVERY)]).health(0)).toBe('healthy');
  });

  test('take what fails in a quarter of a run for the failures of its tests', () => {
    const quarter = EVERY.slice(0, TESTS / 4);
    expect(afterRuns(['a', fail([])], ['b', fail(quarter)]).health(0)).toBe('broken');
  });

  test('quarantine a flaky test of two commits and 2 % once it has run twenty times', () => {
    const often = (runs: number) =>
      Array.from({ length: runs }, (_, i) => [`c${i}`, i % 5 === 2 ? fail([0]) : fail([])] as const);
    expect(afterRuns(...often(19)).isQuarantined(0)).toBeFalse();
    const rules = afterRuns(...often(20));
    expect(rules.isQuarantined(0)).toBeTrue();
    expect(rules.isQuarantined(1)).toBeFalse();
  });
});
