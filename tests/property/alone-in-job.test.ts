/** A test that is alone in its CI job, or nearly: nothing beside it tells a bad run from a bad test (run-trouble.ts). */
import { describe, expect, test } from 'bun:test';
import { newBelief, probabilitiesOf, verdictOf } from '../../src/domain/belief.ts';
import { DAY_MS, HOUR_MS } from '../../src/domain/time.ts';
import { judge, type Told, type ToldRun } from '../support/told-history.ts';

const BEGUN = Date.UTC(2026, 0, 5);
const MINUTE_MS = HOUR_MS / 60;

const runOf = (at: number, commit: string, result: Told, count = 1): ToldRun => ({
  at,
  job: 'smoke',
  commit,
  tests: new Map(Array.from({ length: count }, (_, i) => [`t${i}`, result])),
  executions: count,
});

interface Story {
  passes: number;
  hoursApart: number;
  rerunAfterMs: number;
  /** On how many commits it fails, two days apart. */
  commits: number;
  tests?: number;
}

/** Passes, and then commits on which everything fails and passes on the rerun, with passes between. */
function story({ passes, hoursApart, rerunAfterMs, commits, tests = 1 }: Story): ToldRun[] {
  const runs: ToldRun[] = [];
  let at = BEGUN;
  const pass = (): void => {
    runs.push(runOf(at, `c${runs.length}`, 'passed', tests));
    at += hoursApart * HOUR_MS;
  };
  for (let i = 0; i < passes; i++) pass();
  for (let i = 0; i < commits; i++) {
    const commit = `bad${i}`;
    runs.push(runOf(at, commit, 'failed', tests), runOf(at + rerunAfterMs, commit, 'passed', tests));
    at += hoursApart * HOUR_MS;
    for (const next = at + 2 * DAY_MS; at < next && i < commits - 1; ) pass();
  }
  return runs;
}

const said = (runs: readonly ToldRun[]) => verdictOf(judge(runs).belief('t0', 'smoke')).status;

const PASSES = [3, 12, 50, 300];
const HOURS_APART = [1, 6, 24];
const RERUN_AFTER_MS = [MINUTE_MS, 10 * MINUTE_MS, HOUR_MS, 3 * HOUR_MS];

describe('a test that is alone in its CI job', () => {
  test('is flaky once it has failed on two commits and passed when they ran again, however often it passed before', () => {
    for (const passes of PASSES)
      for (const hoursApart of HOURS_APART)
        for (const rerunAfterMs of RERUN_AFTER_MS) {
          const told = { passes, hoursApart, rerunAfterMs, commits: 2 };
          expect([told, said(story(told))]).toEqual([told, 'flaky']);
        }
  });

  test('is flaky once it has passed only on the second attempt twice', () => {
    for (const passes of PASSES)
      for (const hoursApart of HOURS_APART) {
        const runs = Array.from({ length: passes + 8 }, (_, i) =>
          runOf(BEGUN + i * hoursApart * HOUR_MS, `c${i}`, i === passes || i === passes + 7 ? 'retried' : 'passed'),
        );
        expect([passes, hoursApart, said(runs)]).toEqual([passes, hoursApart, 'flaky']);
      }
  });

  test('is flaky once two pull requests both failed and passed it', () => {
    for (const passes of PASSES) {
      const runs = Array.from({ length: passes }, (_, i) => runOf(BEGUN + i * 6 * HOUR_MS, `c${i}`, 'passed'));
      const at = BEGUN + passes * 6 * HOUR_MS;
      for (const [i, commit] of ['p1', 'p2'].entries())
        for (const [j, result] of (['failed', 'passed'] as const).entries()) {
          const finishedAt = at + i * DAY_MS + j * 10 * MINUTE_MS;
          runs.push({ ...runOf(finishedAt, commit, result), isPullRequest: true });
        }
      expect([passes, said(runs)]).toEqual([passes, 'flaky']);
    }
  });

  test('is judged alike whether a large CI job that passes ran at the same time, in the hour before, or at night', () => {
    const beside = (runs: readonly ToldRun[], atOf: (run: ToldRun) => number): ToldRun[] =>
      runs
        .flatMap((run) => [run, { ...run, at: atOf(run), job: 'unit', tests: new Map(), executions: 300 }])
        .sort((one, other) => one.at - other.at);
    const night = ({ at }: ToldRun): number => Math.floor(at / DAY_MS) * DAY_MS + 3 * HOUR_MS;
    for (const passes of PASSES)
      for (const commits of [1, 2]) {
        const runs = story({ passes, hoursApart: 6, rerunAfterMs: HOUR_MS / 2, commits });
        const all = [({ at }: ToldRun) => at, ({ at }: ToldRun) => at - HOUR_MS / 2, night].map((atOf) =>
          said(beside(runs, atOf)),
        );
        expect([passes, commits, new Set(all).size]).toEqual([passes, commits, 1]);
        if (commits === 2) expect(all).toEqual(['flaky', 'flaky', 'flaky']);
      }
  });

  test('explains less by trouble the sooner it passes again', () => {
    const flakyAfter = (rerunAfterMs: number): number => {
      const { courses } = judge(story({ passes: 50, hoursApart: 6, rerunAfterMs, commits: 1 }));
      return probabilitiesOf(courses.values().next().value?.belief ?? newBelief()).flaky;
    };
    const flaky = RERUN_AFTER_MS.map(flakyAfter);
    expect(flaky).toEqual(flaky.toSorted((one, other) => other - one));
    expect(flaky[0]).toBeGreaterThan(1.1 * (flaky.at(-1) ?? 1));
  });
});

test('five tests that fail together and pass on the rerun are not flaky, though it happens twelve times', () => {
  for (const passes of PASSES)
    for (const rerunAfterMs of RERUN_AFTER_MS) {
      const told = { passes, hoursApart: 6, rerunAfterMs, commits: 12, tests: 5 };
      expect([told, said(story(told))]).toEqual([told, 'healthy']);
    }
});
