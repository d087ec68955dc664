/** A commit that breaks much of a CI job, and outages of the same size (run-trouble.ts). */
import { describe, expect, test } from 'bun:test';
import { verdictOf } from '../../src/domain/belief.ts';
import { HOUR_MS } from '../../src/domain/time.ts';
import { randomFrom } from '../support/random.ts';
import { judge, type Told, type ToldRun } from '../support/told-history.ts';

const BEGUN = Date.UTC(2026, 0, 5);
const TESTS = 500;
const NAMES = Array.from({ length: TESTS }, (_, i) => `t${i}`);
/** Runs before the first failure, and after it. */
const BEFORE = 60;

interface Story {
  hoursApart: number;
  runs: number;
  /** Which tests fail in a run, from 0 on. */
  failing(run: number): Iterable<string>;
  jobs?: readonly { name: string; failing: Story['failing'] }[];
}

function told({ hoursApart, runs, failing, jobs = [] }: Story): ToldRun[] {
  const all = [{ name: 'unit', failing }, ...jobs];
  return Array.from({ length: BEFORE + runs }, (_, i) =>
    all.map((job): ToldRun => {
      const failed = i < BEFORE ? new Set<string>() : new Set(job.failing(i - BEFORE));
      const tests = new Map(NAMES.map((name): [string, Told] => [name, failed.has(name) ? 'failed' : 'passed']));
      return { at: BEGUN + i * hoursApart * HOUR_MS, job: job.name, commit: `c${i}`, tests, executions: TESTS };
    }),
  ).flat();
}

/** How many tests are called broken after so many failing runs. */
function brokenAfter(story: Story): number {
  const { belief } = judge(told(story));
  return NAMES.filter((name) => verdictOf(belief(name, 'unit')).status === 'broken').length;
}

const first = (count: number, offset = 0): string[] => NAMES.slice(offset, offset + count);
/** Now and then another test fails, too. */
function withStrays(tests: readonly string[]): Story['failing'] {
  const random = randomFrom(7);
  return () => [...tests, NAMES[Math.floor(random() * TESTS)] ?? 't0'];
}
/** Each test fails by chance. */
function byChance(share: number): Story['failing'] {
  const random = randomFrom(8);
  return () => NAMES.filter(() => random() < share);
}

const COUNTS = [30, 100, 300, 450];
/** 15 runs a day, within working hours or not, and 4. */
const HOURS_APART = [0.8, 1.6, 6];

describe('a commit that breaks so many of 500 tests', () => {
  for (const count of COUNTS)
    test(`(${count}) is called a break by the third failing run, with 15 runs a day and with 4`, () => {
      for (const hoursApart of HOURS_APART) {
        const failing = withStrays(first(count));
        expect([hoursApart, brokenAfter({ hoursApart, runs: 3, failing })]).toEqual([hoursApart, count]);
      }
    });

  test('is called a break after five hours if it breaks as many in another CI job, such as a leg', () => {
    const legs = ['windows', 'macos'].map((name) => ({ name, failing: () => first(300) }));
    const story = { hoursApart: 0.8, failing: () => first(300), jobs: legs };
    expect([brokenAfter({ ...story, runs: 5 }), brokenAfter({ ...story, runs: 8 })]).toEqual([0, 300]);
  });
});

describe('an outage', () => {
  for (const share of [0.06, 0.2, 0.6, 0.9, 0.97, 1])
    test(`that fails ${100 * share}% of the tests by chance breaks none`, () => {
      for (const hoursApart of HOURS_APART) {
        const runs = Math.min(6, Math.floor(8 / hoursApart) + 1);
        const broken = brokenAfter({ hoursApart, runs, failing: byChance(share) });
        expect([hoursApart, broken <= 2]).toEqual([hoursApart, true]);
      }
    });

  test('that fails the same tests for four hours breaks none while it fails others in another CI job', () => {
    const database = { name: 'browser', failing: () => first(160, 200) };
    expect(brokenAfter({ hoursApart: 0.8, runs: 6, failing: () => first(300), jobs: [database] })).toBe(0);
  });

  test('that ends leaves no test broken', () => {
    const failing = (run: number): string[] => (run < 4 ? first(300) : []);
    expect(brokenAfter({ hoursApart: 0.8, runs: 5, failing })).toBe(0);
  });

  test('of everything that leaves half of the tests failing by chance breaks none', () => {
    const half = byChance(0.5);
    const failing = (run: number): Iterable<string> => (run < 2 ? NAMES : half(run));
    expect(brokenAfter({ hoursApart: 0.8, runs: 4, failing })).toBe(0);
  });
});
