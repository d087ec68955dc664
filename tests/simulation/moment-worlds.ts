/**
 * A day of pull requests, some of which break tests, on a default branch that breaks or not, in infrastructure that has trouble
 * or not. Each failure comes with its cause. It comes from a seed, and nothing in it knows the rules that are tried.
 */
import { DAY_MS, HOUR_MS } from '../../src/domain/time.ts';
import { randomFrom } from '../support/random.ts';
import { changedFiles } from './change-files.ts';
import { flakyRate } from './flaky-rates.ts';
import type { Run, Trouble } from './history.ts';
import { breakMessage } from './world.ts';

export const MOMENT_KINDS = ['quiet', 'main breaks', 'outage', 'runner', 'shard', 'slow day'] as const;
type MomentKind = (typeof MOMENT_KINDS)[number];
export type Cause = 'change' | 'main' | 'flaky' | 'trouble';

interface Pull {
  number: number;
  author: number;
  /** Its own number, or that of the first of those it is built on. */
  root: number;
  /** Whether its base branch is the one that it is built on, as the host tells it. */
  namesBase: boolean;
}

export interface MomentRun extends Run {
  /** Null on the default branch. */
  pullRequest: Pull | null;
  /** By identity, of those that failed. */
  causes: ReadonlyMap<number, Cause>;
  /** How often what the change breaks fails. */
  ownRate: number;
  /** Of a pull request: the commit of the default branch that it is based on; null if none ran before. */
  base: string | null;
  /** That a pull request changes. */
  files: readonly string[];
}

export interface MomentWorld {
  /** In order of time. */
  runs: MomentRun[];
  /** Whether hosts have told the authors of pull requests. */
  knowsAuthors: boolean;
  /** How often flaky tests fail. */
  flaky: ReadonlyMap<number, number>;
  /** How often a test that trouble hit fails again when it runs half an hour later. */
  troubleLasts: number;
}

/** From one seed to that of other draws of the same world. Seeds are whole numbers. */
const APART = 1_000_000_007;

const TROUBLE_LASTS: Readonly<Record<MomentKind, number>> = {
  ...{ quiet: 0, 'main breaks': 0, outage: 0.6, runner: 0.25 * 0.3, shard: 0, 'slow day': 0.03 },
};

export interface MomentOptions {
  kind: MomentKind;
  seed: number;
  /** Whether the default branch runs on that day. */
  runsOnMain: boolean;
  /** How often what a change breaks is one flaky test; drawn apart, so that all else stays as it is. */
  flakyVictims?: number;
  /** In how many legs each CI job runs. A test has an identity in each: the same number, and {@link TESTS} for each leg before. */
  legs?: number;
}

const START = Date.UTC(2026, 0, 5);
const DAYS_BEFORE = 14;
export const TESTS = 300;
const JOBS = 2;
const PULLS_PER_HOUR = 4;
const MAIN_PER_HOUR = 0.7;
const AUTHORS = 8;
const BREAK_SHARE = 0.15;
/** How often what a change breaks fails in one leg only, where there are several. */
const ONE_LEG_SHARE = 0.25;
/** How much older than the newest commit the base of a pull request is that has not been updated: up to a day. */
const STALE_MS_MAX = DAY_MS;
/** How often a pull request is based on an earlier one of the same author. */
const STACKED_SHARE = 0.1;
const FRESH_BASE_SHARE = 0.7;
const NAMED_BASE_SHARE = 0.5;
const RERUN_SHARE = 0.5;
const RERUN_AFTER_MS = HOUR_MS / 2;

/** How often all that a change of several tests breaks fails with one message. */
const ONE_MESSAGE_SHARE = 0.6;
/** Messages that faults of many changes give, one of which slow machines give as well; and how often. */
const GENERIC = ['expected true, got false', 'timed out'] as const;
const GENERIC_SHARE = 0.2;
const SLOW_SHARE = 0.03;
/** How often what a change breaks fails only now and then. */
const RACE_SHARE = 0.1;
/** And how often all of it fails or none. */
const TOGETHER_SHARE = 0.3;

/** What a change breaks: with which message each test fails, and how often. */
interface Own {
  messages: ReadonlyMap<number, string>;
  rate: number;
  failsTogether: boolean;
}
const NOTHING: Own = { messages: new Map(), rate: 1, failsTogether: false };

interface Start {
  at: number;
  pullRequest: MomentRun['pullRequest'];
  own: Own;
  seesMain: boolean;
}
type Spoil = (start: { at: number; job: number; commit: string }, tests: readonly number[]) => Iterable<number>;

export function makeMomentWorld({ kind, seed, runsOnMain, flakyVictims = 0, legs = 1 }: MomentOptions): MomentWorld {
  const random = randomFrom(seed);
  const apart = randomFrom(seed + APART);
  const day = START + DAYS_BEFORE * DAY_MS;
  const flaky = new Map(
    Array.from({ length: TESTS }, (_, test) => test).flatMap((test) =>
      random() < 0.05 ? [[test, flakyRate(random())] as const] : [],
    ),
  );
  const jobs = Array.from({ length: JOBS * legs }, (_, job) => {
    const before = TESTS * Math.floor(job / JOBS);
    return Array.from({ length: TESTS }, (_, test) => test + before).filter((test) => test % JOBS === job % JOBS);
  });
  const from = day + (9 + 5 * random()) * HOUR_MS;
  const spoil = makeTrouble(kind, { from, day }, random);
  const troubleMessage = makeMessages(random);
  const pulls = withFlakyVictims(pullStarts(day, random), [...flaky.keys()], { share: flakyVictims, seed });
  const starts = [...mainStarts(day, runsOnMain || kind === 'main breaks', random), ...pulls].sort(
    (a, b) => a.at - b.at,
  );
  // It comes and goes with merges.
  const mergeFrom = (at: number): number =>
    starts.find((one) => one.pullRequest === null && one.at >= at)?.at ?? Number.MAX_SAFE_INTEGER;
  const mainBreak =
    kind === 'main breaks'
      ? { tests: victims(random), from: mergeFrom(from), to: mergeFrom(from + (2 + 4 * random()) * HOUR_MS) }
      : { tests: new Set<number>(), from: 0, to: 0 };
  const runs: MomentRun[] = [];
  const baseBefore = (moment: number): string | null => {
    const i = starts.findLastIndex((one) => one.pullRequest === null && one.at <= moment);
    return i < 0 ? null : `c${i}`;
  };
  for (const [i, { at: started, pullRequest, own, seesMain }] of starts.entries()) {
    const isStale = !seesMain;
    const merged = isStale && kind === 'main breaks' ? Math.min(started, mainBreak.from - 1) : started;
    const base = pullRequest && baseBefore(merged - (isStale ? apart() * STALE_MS_MAX : 0));
    const files = pullRequest ? changedFiles([...own.messages.keys()], TESTS, apart) : [];
    const onlyLeg = apart() < ONE_LEG_SHARE ? Math.floor(apart() * legs) : null;
    for (const [job, identities] of jobs.entries())
      for (let attempt = 1; attempt <= 2; attempt++) {
        const at = started + attempt * RERUN_AFTER_MS;
        const commit = `c${i}`;
        const troubles = new Map<number, Trouble>();
        const causes = new Map<number, Cause>();
        const fail = (test: number, cause: Cause, message: string): void => {
          if (causes.has(test)) return;
          causes.set(test, cause);
          troubles.set(test, { message, isPassedOnRetry: false });
        };
        const leg = Math.floor(job / JOBS);
        const isOf = (test: number): boolean => test % JOBS === job % JOBS;
        if (seesMain && started >= mainBreak.from && started < mainBreak.to)
          for (const test of mainBreak.tests) if (isOf(test)) fail(test + leg * TESTS, 'main', breakMessage(test));
        const luck = random();
        const isInLeg = onlyLeg === null || onlyLeg === leg;
        for (const [test, message] of own.messages)
          if (isInLeg && isOf(test) && (own.failsTogether ? luck : random()) < own.rate)
            fail(test + leg * TESTS, 'change', message);
        for (const test of spoil({ at, job, commit }, identities)) fail(test, 'trouble', troubleMessage(test));
        for (const test of identities)
          if (random() < (flaky.get(test % TESTS) ?? 0))
            fail(test, 'flaky', test % 3 === 0 ? GENERIC[1] : `race ${test % TESTS}`);
        runs.push({
          ...{ id: `${commit}-${job}`, attempt, job, commit, isDefaultBranch: pullRequest === null, at },
          ...{ identities, troubles, causes, pullRequest, ownRate: own.rate, base, files },
        });
        if (causes.size === 0 || pullRequest === null || random() >= RERUN_SHARE) break;
      }
  }
  return {
    runs: runs.sort((a, b) => a.at - b.at),
    knowsAuthors: random() < 0.5,
    flaky,
    troubleLasts: TROUBLE_LASTS[kind],
  };
}

/** Three runs on each day before; then some an hour, or none. */
function mainStarts(day: number, runsOnMain: boolean, random: () => number): Start[] {
  const main = { pullRequest: null, own: NOTHING, seesMain: true };
  const before = Array.from({ length: DAYS_BEFORE * 3 }, (_, i) => START + i * (DAY_MS / 3));
  const now = Array.from({ length: Math.round(24 * MAIN_PER_HOUR) }, () => day + random() * DAY_MS);
  return [...before, ...(runsOnMain ? now : [])].map((at) => ({ ...main, at: Math.floor(at) }));
}

function pullStarts(day: number, random: () => number): Start[] {
  const starts: Start[] = [];
  for (let number = 1; number <= 11 * PULLS_PER_HOUR; number++) {
    const at = Math.floor(day + (8 + (number - 1) / PULLS_PER_HOUR + random() / PULLS_PER_HOUR) * HOUR_MS);
    const base = random() < STACKED_SHARE ? starts[Math.floor(random() * starts.length)] : undefined;
    const own = base?.own ?? (random() < BREAK_SHARE ? makeOwn(number, random) : NOTHING);
    const author = base?.pullRequest?.author ?? Math.floor(random() * AUTHORS);
    const pullRequest = {
      ...{ number, author, root: base?.pullRequest?.root ?? number },
      namesBase: base !== undefined && random() < NAMED_BASE_SHARE,
    };
    starts.push({ at, pullRequest, own, seesMain: random() < FRESH_BASE_SHARE });
  }
  return starts;
}

/** Some of the pull requests that break nothing break a flaky test. */
function withFlakyVictims(
  starts: readonly Start[],
  flaky: readonly number[],
  { share, seed }: { share: number; seed: number },
): Start[] {
  const random = randomFrom(seed + 2 * APART);
  return starts.map((start) => {
    const victim = flaky[Math.floor(random() * flaky.length)];
    if (random() >= share || victim === undefined || start.own !== NOTHING) return start;
    // Of these, one in five fails in the way in which the test is flaky.
    const message = random() < 0.2 ? `race ${victim}` : `${breakMessage(victim)} of ${start.pullRequest?.number}`;
    return { ...start, own: { messages: new Map([[victim, message]]), rate: 1, failsTogether: false } };
  });
}

function makeOwn(number: number, random: () => number): Own {
  const isOne = random() < ONE_MESSAGE_SHARE;
  const luck = random();
  const generic = luck < SLOW_SHARE ? GENERIC[1] : luck < GENERIC_SHARE ? GENERIC[0] : undefined;
  const messageOf = (test: number): string =>
    generic ?? (isOne ? `fault of ${number}` : `${breakMessage(test)} of ${number}`);
  const messages = new Map([...victims(random)].map((test) => [test, messageOf(test)]));
  const rate = random() < RACE_SHARE ? 0.1 + 0.7 * random() : 1;
  return { messages, rate, failsTogether: random() < TOGETHER_SHARE };
}

/** Trouble gives one message, two, or each test its own. */
function makeMessages(random: () => number): (test: number) => string {
  const luck = random();
  if (luck < 1 / 3) return () => GENERIC[1];
  if (luck < 2 / 3) return () => (random() < 0.5 ? GENERIC[1] : 'no answer');
  return (test) => `no answer for ${test}`;
}

/** Mostly a test or a few of a CI job, sometimes up to 40 % of it. */
function victims(random: () => number): Set<number> {
  const luck = random();
  const ofJob = TESTS / JOBS;
  const wanted =
    luck < 0.6 ? 1 : luck < 0.85 ? 2 + random() * 4 : luck < 0.97 ? 6 + random() * 25 : ofJob * (0.1 + random() * 0.3);
  const job = Math.floor(random() * JOBS);
  return new Set(Array.from({ length: Math.floor(wanted) }, () => Math.floor(random() * ofJob) * JOBS + job));
}

function makeTrouble(kind: MomentKind, { from, day }: { from: number; day: number }, random: () => number): Spoil {
  const each =
    (share: number): Spoil =>
    (_, tests) =>
      tests.filter(() => random() < share);
  if (kind === 'outage') {
    const share = 0.4 + 0.6 * random();
    const to = from + (0.5 + 4.5 * random()) * HOUR_MS;
    const same = new Set(Array.from({ length: TESTS }, (_, test) => test).filter(() => random() < share));
    const hit: Spoil = random() < 0.5 ? (_, tests) => tests.filter((test) => same.has(test % TESTS)) : each(share);
    return (run, tests) => (run.at >= from && run.at < to ? hit(run, tests) : []);
  }
  if (kind === 'runner') {
    const hit = each(0.2 + 0.2 * random());
    // The next free of four runners takes a CI job.
    return (run, tests) => (run.at >= day && random() < 0.25 ? hit(run, tests) : []);
  }
  if (kind === 'slow day') {
    const hit = each(0.01 + 0.04 * random());
    return (run, tests) => (run.at >= day ? hit(run, tests) : []);
  }
  if (kind === 'shard') {
    let victim: string | undefined;
    return (run, tests) => {
      if (run.at < from) return [];
      victim ??= `${run.commit}/${run.job}/${run.at}`;
      if (victim !== `${run.commit}/${run.job}/${run.at}`) return [];
      const length = Math.ceil(tests.length * (0.2 + 0.3 * random()));
      const first = Math.floor(random() * (tests.length - length));
      return tests.slice(first, first + length);
    };
  }
  return () => [];
}
