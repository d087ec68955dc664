/** The judges, and what the rules must hold on a small repository; `bun run simulate` tries them on large ones. */
import { describe, expect, test } from 'bun:test';
import { HEALTH_LEVELS } from '../../src/domain/belief.ts';
import { DAY_MS } from '../../src/domain/time.ts';
import { CauseRule, SameCommitRule } from './baselines.ts';
import type { Share } from './calibration.ts';
import type { Rules } from './history.ts';
import { addQuietDays, type RealHistory } from './real-history.ts';
import { describeScores } from './report.ts';
import { addScores, play } from './score.ts';
import { ServiceRules } from './service-rules.ts';
import { makeWorld, phaseAt, type WorldOptions } from './world.ts';

const OPTIONS: WorldOptions = {
  name: 'small',
  seed: 7,
  days: 28,
  tests: 120,
  jobs: 2,
  mergesPerDay: 6,
  pullRequestRunsPerDay: 4,
  rerunShare: 0.5,
  pullRequestRerunShare: 0.5,
  isRetriedByRunner: false,
  flakyShare: 0.2,
  oneInAHundredShare: 0,
  breaksPerWeek: 3,
  incidentsPerWeek: 0,
};
const world = makeWorld(OPTIONS);
const share = ({ right, of }: Share): number => right / of;

describe('a world', () => {
  test('is the same again from the same seed, with its incidents', () => {
    const troubled = { ...OPTIONS, incidentsPerWeek: 4 };
    const runsOf = () =>
      [...makeWorld(troubled).runs()].map(({ troubles, ...run }) => ({ ...run, troubles: [...troubles] }));
    expect(runsOf()).toEqual(runsOf());
    expect(makeWorld({ ...troubled, seed: 8 }).phases).not.toEqual(world.phases);
  });

  test('brings its runs in order of time', () => {
    const moments = [...world.runs()].map(({ at }) => at);
    expect(moments).toEqual(moments.toSorted((a, b) => a - b));
  });

  test('without incidents, fails on the default branch only tests that are flaky or broken', () => {
    for (const { isDefaultBranch, troubles, at } of world.runs())
      for (const identity of isDefaultBranch ? troubles.keys() : [])
        expect([
          identity,
          phaseAt(world.phases[identity] ?? [], at - DAY_MS / 24) ?? phaseAt(world.phases[identity] ?? [], at),
        ]).not.toEqual([identity, undefined]);
  });
});

describe('the rules, on 120 tests over 28 days without infrastructure trouble', () => {
  const scores = play(world, new ServiceRules());

  test('quarantine nothing that is neither flaky nor broken', () => {
    expect(scores.falseQuarantines.of).toBeGreaterThan(0);
    expect(scores.falseQuarantines.right).toBe(0);
  });

  test('find every test that fails at 5 % or more', () => {
    expect(scores.flakyRecall.of).toBeGreaterThan(0);
    expect(share(scores.flakyRecall)).toBe(1);
  });

  test('call broken tests broken in at least 85 of a hundred hours', () =>
    expect(share(scores.brokenRecall)).toBeGreaterThan(0.85));
});

describe('with other levels, the rules', () => {
  test('say the same where the levels are those of the service', () => {
    const { seconds: _, ...scores } = play(world, new ServiceRules());
    expect(play(world, new ServiceRules({ levels: { ...HEALTH_LEVELS } }))).toMatchObject(scores);
  });

  test('call more tests flaky from 50 % on than from 95 % on', () => {
    const called = (flakyFrom: number): number =>
      play(world, new ServiceRules({ levels: { ...HEALTH_LEVELS, flakyFrom } })).flakyPrecision.of;
    expect(called(0.5)).toBeGreaterThan(called(0.95));
  });
});

test('who sees the cause of each failure misses no broken test, though a fix shows only in the next run', () => {
  const { brokenPrecision, brokenRecall } = play(world, new CauseRule());
  expect(share(brokenRecall)).toBe(1);
  expect(share(brokenPrecision)).toBeWithin(0.9, 1);
});

test('quiet days of a real history become passes where the suite ran, once a test is known there', () => {
  const run = (day: number, job: number, ...identities: number[]): RealHistory['runs'][number] => ({
    id: `${day}/${job}`,
    attempt: 1,
    job,
    commit: 'c',
    isDefaultBranch: true,
    at: day * DAY_MS,
    identities,
    troubles: new Map(),
  });
  const identities = [
    { test: 'a', suite: 'linux' },
    { test: 'b', suite: 'linux' },
    { test: 'a', suite: 'windows' },
  ];
  // On day 2, `a` is named on Windows: if it had run on Linux, it would be named there.
  const runs = [run(0, 0, 0), run(1, 0, 1), run(2, 0, 1), run(2, 1, 2), run(3, 0, 0), run(3, 1, 2)];
  const history = { runs, identities, executions: 6 };
  addQuietDays(history);
  expect(runs.map((one) => Array.from(one.identities))).toEqual([[0], [1, 0], [1], [2], [0, 1], [2]]);
  expect(history.executions).toBe(8);
});

describe('the judge', () => {
  const truth = (answers: Partial<Rules>): Rules => ({
    name: 'fixed',
    takeIn: () => {},
    settle: () => {},
    health: () => 'healthy',
    isQuarantined: () => false,
    ...answers,
  });

  test('gives rules that know the truth full marks, and no quarantine of a test that is fine', () => {
    let now = world.start;
    const state = (identity: number) => phaseAt(world.phases[identity] ?? [], now)?.state ?? 'healthy';
    const scores = play(
      world,
      truth({
        settle: (at) => {
          now = at;
        },
        health: state,
        isQuarantined: (identity) => state(identity) === 'flaky',
      }),
    );
    const { flakyPrecision, flakyRecall, brokenPrecision, brokenRecall, falseQuarantines, wrongRecoveries } = scores;
    expect([flakyPrecision, flakyRecall, brokenPrecision, brokenRecall].map(share)).toEqual([1, 1, 1, 1]);
    expect([falseQuarantines.right, wrongRecoveries.right]).toEqual([0, 0]);
  });

  test('gives rules that suspect everything the precision of the world', () => {
    const scores = play(world, truth({ health: () => 'flaky', isQuarantined: () => true }));
    const flaky = world.phases.filter((phases) => phases.some(({ state }) => state === 'flaky')).length;
    expect(scores.flakyPrecision).toEqual({ right: flaky, of: OPTIONS.tests });
    expect(scores.brokenRecall.right).toBe(0);
  });

  test('adds worlds up', () => {
    const scores = play(world, new SameCommitRule());
    const twice = addScores(scores, scores);
    expect(twice.flakyPrecision.of).toBe(2 * scores.flakyPrecision.of);
    expect(describeScores('both', new Map([['same commit', twice]]))).toContain('| same commit |');
  });
});
