/**
 * A generated repository whose truth is known: every test's real state on every day, and the runs that follow from it. It comes
 * from a seed, and nothing in it knows the rules that are tried on it.
 */
import type { JudgedExecution } from '../../src/domain/execution.ts';
import { randomFrom } from '../support/random.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

export interface WorldOptions {
  seed: number;
  days: number;
  tests: number;
  /** The first day's midnight. */
  start: number;
}

type Kind =
  | 'stable'
  | 'flaky 1 %'
  | 'flaky 5 %'
  | 'flaky 20 %'
  | 'times out'
  | 'broken for a week'
  | 'broken with many'
  | 'red for one commit';

export type State = 'healthy' | 'flaky' | 'broken';

/** What is wrong with a test, and when; days from the start, the end exclusive. */
interface Trouble {
  from: number;
  to: number;
  state: State;
}

export interface SimulatedTest {
  name: string;
  kind: Kind;
  job: number;
  /** Days on which it exists: a renamed test is two tests, one after the other. */
  from: number;
  to: number;
  isRenamed: boolean;
  troubles: Trouble[];
  /** A failure is retried within the run, and flagged by the runner. */
  isRetriedByRunner: boolean;
}

export interface SimulatedRun {
  job: number;
  day: number;
  startedAt: number;
  /** By index of the test; what it says when it fails. */
  results: Map<number, { execution: JudgedExecution; fingerprint: string | undefined }>;
}

export interface World {
  options: WorldOptions;
  tests: SimulatedTest[];
  /** Days on which the infrastructure was down: nearly everything fails. */
  outageDays: number[];
  /** In order of time. */
  runs(): Generator<SimulatedRun>;
}

const JOBS = 4;
const COMMITS_ON_WORKDAYS = 8;
const COMMITS_ON_FREE_DAYS = 1;
/** How often someone runs a failed job again. */
const RERUN_SHARE = 0.5;
const RETRIED_BY_RUNNER_SHARE = 0.25;

/** How many tests of each kind there are, of 1,000; the rest is stable. */
const KINDS: readonly (readonly [Kind, number])[] = [
  ['flaky 1 %', 40],
  ['flaky 5 %', 40],
  ['flaky 20 %', 40],
  ['times out', 20],
  ['broken for a week', 50],
  ['broken with many', 100],
  ['red for one commit', 60],
];
const FAILURE_CHANCE: Partial<Record<Kind, number>> = { 'flaky 1 %': 0.01, 'flaky 5 %': 0.05, 'flaky 20 %': 0.2 };
/** Tests that time out do so on slow days. */
const SLOW_DAY_SHARE = 0.15;
const TIME_OUT_CHANCE = 0.3;

export function makeWorld(options: WorldOptions): World {
  const random = randomFrom(options.seed);
  const outageDays = [0.3, 0.55, 0.85].map((share) => Math.floor(options.days * share));
  const tests = makeTests(options, random);
  return { options, tests, outageDays, runs: () => makeRuns(options, tests, outageDays, randomFrom(options.seed + 1)) };
}

function makeTests({ tests: count, days }: WorldOptions, random: () => number): SimulatedTest[] {
  const between = (least: number, most: number): number => Math.floor(least + random() * (most - least));
  const tests: SimulatedTest[] = [];
  const add = (kind: Kind, troubles: Trouble[], job = between(0, JOBS)): void => {
    const base = { kind, job, troubles, isRetriedByRunner: random() < RETRIED_BY_RUNNER_SHARE };
    const name = `${kind} ${tests.length}`;
    // One in twenty is renamed halfway: the old name stops appearing, the new one is unknown.
    if (random() < 0.05) {
      const middle = Math.floor(days / 2);
      tests.push({ ...base, name, from: 0, to: middle, isRenamed: true });
      tests.push({ ...base, name: `${name}, renamed`, from: middle, to: days, isRenamed: true });
    } else tests.push({ ...base, name, from: 0, to: days, isRenamed: false });
  };
  const manyFrom = Math.floor(days * 0.4);
  for (const [kind, share] of KINDS)
    for (let i = 0; i < Math.round((share * count) / 1_000); i++) {
      if (kind === 'broken for a week') {
        // Four at a time, from the same bad commit on.
        const from = Math.floor(days * (0.1 + 0.7 * ((Math.floor(i / 4) % 13) / 13)));
        add(kind, [{ from, to: from + 7, state: 'broken' }], Math.floor(i / 4) % JOBS);
      } else if (kind === 'broken with many') add(kind, [{ from: manyFrom, to: manyFrom + 3, state: 'broken' }], 0);
      else if (kind === 'red for one commit') add(kind, []);
      else {
        const from = random() < 0.5 ? 0 : between(5, days / 3);
        const to = random() < 1 / 3 ? Math.floor(days * 0.66) : days;
        add(kind, [{ from, to, state: 'flaky' }]);
      }
    }
  while (tests.length < count) add('stable', []);
  return tests;
}

/** What a test really is on a day. */
export function truthOf(test: SimulatedTest, day: number): State {
  return test.troubles.find((trouble) => day >= trouble.from && day < trouble.to)?.state ?? 'healthy';
}

function* makeRuns(
  { days, start }: WorldOptions,
  tests: readonly SimulatedTest[],
  outageDays: readonly number[],
  random: () => number,
): Generator<SimulatedRun> {
  let id = 0n;
  let commits = 0;
  const redCommits = redCommitsOf(tests, days, random);
  for (let day = 0; day < days; day++) {
    const isFree = day % 7 >= 5;
    const isSlow = random() < SLOW_DAY_SHARE;
    const count = isFree ? COMMITS_ON_FREE_DAYS : COMMITS_ON_WORKDAYS;
    for (let i = 0; i < count; i++) {
      const commit = `c${commits++}`;
      const startedAt = start + day * DAY + (isFree ? 12 : 8) * HOUR + i * 90 * MINUTE;
      const red = redCommits.get(commits) ?? new Set();
      const outage = outageDays.includes(day) ? 0.97 : 0;
      for (let job = 0; job < JOBS; job++)
        for (let attempt = 1; attempt <= 2; attempt++) {
          const at = startedAt + (attempt - 1) * 30 * MINUTE;
          const run: SimulatedRun = { job, day, startedAt: at, results: new Map() };
          let hasFailed = false;
          for (const [index, test] of tests.entries()) {
            if (test.job !== job || day < test.from || day >= test.to) continue;
            const failure = failureOf(test, { day, isSlow, outage, isRed: red.has(index), random });
            const isSaved = failure !== undefined && !failure.isCertain && test.isRetriedByRunner;
            const isFailed = failure !== undefined && !isSaved;
            if (isFailed) hasFailed = true;
            run.results.set(index, {
              fingerprint: failure?.says,
              execution: {
                executionId: ++id,
                status: isFailed ? 'failed' : 'passed',
                finishedAt: at + (index % 600) * 1_000,
                runId: commit,
                runAttempt: attempt,
                commit,
                isFlakyWithinRun: isSaved,
                isRetried: isSaved,
              },
            });
          }
          yield run;
          if (!hasFailed || random() >= RERUN_SHARE) break;
        }
    }
  }
}

interface Circumstances {
  day: number;
  isSlow: boolean;
  /** How likely everything is to fail. */
  outage: number;
  isRed: boolean;
  random: () => number;
}

/** Certain: an immediate retry would not help. */
function failureOf(test: SimulatedTest, { day, isSlow, outage, isRed, random }: Circumstances) {
  if (outage > 0 && random() < outage) return { says: 'connection refused', isCertain: true };
  if (isRed) return { says: 'assertion of the bad commit', isCertain: true };
  const truth = truthOf(test, day);
  if (truth === 'broken') return { says: 'assertion', isCertain: true };
  if (truth === 'healthy') return undefined;
  if (test.kind === 'times out')
    return isSlow && random() < TIME_OUT_CHANCE ? { says: 'timed out', isCertain: false } : undefined;
  if (random() >= (FAILURE_CHANCE[test.kind] ?? 0)) return undefined;
  return { says: random() < 0.7 ? 'the usual race' : 'another race', isCertain: false };
}

/** Commits that break a few tests and are fixed by the next one. */
function redCommitsOf(tests: readonly SimulatedTest[], days: number, random: () => number): Map<number, Set<number>> {
  const commits = Math.floor((days / 7) * (5 * COMMITS_ON_WORKDAYS + 2 * COMMITS_ON_FREE_DAYS));
  const found = new Map<number, Set<number>>();
  const victims = tests.flatMap((test, index) => (test.kind === 'red for one commit' ? [index] : []));
  for (let i = 0; i < victims.length; i += 3) {
    const commit = Math.floor(commits * (0.05 + 0.9 * random()));
    const red = found.get(commit) ?? new Set<number>();
    for (const index of victims.slice(i, i + 3)) red.add(index);
    found.set(commit, red);
  }
  return found;
}
