/**
 * A generated repository whose truth is known: when each test is healthy, flaky or broken, what the infrastructure does
 * to whom, and the runs that follow from both. It comes from a seed, and nothing in it knows the rules that are tried.
 */
import type { Health } from '../../src/domain/status.ts';
import { DAY_MS, HOUR_MS } from '../../src/domain/time.ts';
import { randomFrom } from '../support/random.ts';
import { flakyRate } from './flaky-rates.ts';
import type { Run, Trouble } from './history.ts';
import { makeIncidents } from './incidents.ts';

export interface WorldOptions {
  name: string;
  seed: number;
  days: number;
  tests: number;
  /** CI jobs; each has its share of the tests. */
  jobs: number;
  mergesPerDay: number;
  pullRequestRunsPerDay: number;
  /** How often someone runs a failed job again. */
  rerunShare: number;
  pullRequestRerunShare: number;
  /** Whether the runner tries failed tests again. */
  isRetriedByRunner: boolean;
  flakyShare: number;
  /** And of the others, how many fail once in a hundred runs. */
  oneInAHundredShare: number;
  breaksPerWeek: number;
  incidentsPerWeek: number;
  /** How many of the breaks hit 30 to 90% of a CI job; none where it is left out. */
  massBreakShare?: number;
  /** How long a flaky test fails at one rate, on average; infinite where it is left out. */
  rateLastsDays?: number;
}

/** A fault of a test, from and to which moment, the end exclusive. */
export interface Phase {
  from: number;
  to: number;
  state: Exclude<Health, 'healthy'>;
  /** How often it fails. */
  rate: number;
}

export interface World {
  options: WorldOptions;
  /** By identity: its phases. Broken wins over flaky. */
  phases: readonly (readonly Phase[])[];
  start: number;
  end: number;
  /** In order of time. */
  runs(): Generator<Run>;
}

const START = Date.UTC(2026, 0, 5);
/** How often a pull request is based on what is on the default branch at the time. */
const FRESH_BASE_SHARE = 0.7;
/** How often a pull request breaks tests itself. */
const PULL_REQUEST_BREAK_SHARE = 0.15;
const FREE_DAY_SHARE = 0.15;
const RERUN_AFTER_MS = HOUR_MS / 2;

interface Break {
  tests: ReadonlySet<number>;
  from: number;
  to: number;
  /** By a dependency or a runner, not by a commit of the repository. */
  isFromOutside: boolean;
}

export function makeWorld(options: WorldOptions): World {
  const random = randomFrom(options.seed);
  const end = START + options.days * DAY_MS;
  const merges = momentsOf(options.mergesPerDay, options.days, random);
  const breaks = makeBreaks(options, merges, random);
  const phases = makePhases(options, breaks, random);
  const runs = () => makeRuns(options, { merges, breaks, phases }, randomFrom(options.seed + 1));
  return { options, phases, start: START, end, runs };
}

/** The message of a test when it is broken, and at no other time. */
export const breakMessage = (test: number): string => `assertion ${test}`;

export const phaseAt = (phases: readonly Phase[], at: number): Phase | undefined => {
  const now = phases.filter(({ from, to }) => at >= from && at < to);
  return now.find(({ state }) => state === 'broken') ?? now[0];
};

const jobOf = (test: number, jobs: number): number => test % jobs;

/** Working hours for few, around the clock for many; less on free days. */
function momentsOf(perDay: number, days: number, random: () => number): number[] {
  const moments: number[] = [];
  for (let day = 0; day < days; day++) {
    const wanted = perDay * (day % 7 >= 5 ? FREE_DAY_SHARE : 1);
    const count = Math.floor(wanted) + (random() < wanted % 1 ? 1 : 0);
    const [from, hours] = perDay > 50 ? [0, 23] : [8, 11];
    for (let i = 0; i < count; i++)
      moments.push(Math.floor(START + day * DAY_MS + (from + random() * hours) * HOUR_MS));
  }
  return moments.sort((a, b) => a - b);
}

function makeBreaks(
  { tests, jobs, days, breaksPerWeek, massBreakShare = 0 }: WorldOptions,
  merges: readonly number[],
  random: () => number,
): Break[] {
  const found: Break[] = [];
  const after = (at: number): number => merges.find((merge) => merge >= at) ?? Number.MAX_SAFE_INTEGER;
  for (let i = 0; i < Math.round((days / 7) * breaksPerWeek); i++) {
    const begun = START + random() * days * DAY_MS;
    const isFromOutside = random() < 0.2;
    const from = isFromOutside ? begun : after(begun);
    const luck = random();
    const lasts = luck < 0.25 ? 1 : luck < 0.7 ? (2 + random() * 22) * HOUR_MS : (1 + random() * 6) * DAY_MS;
    const to = isFromOutside && random() < 0.5 ? from + lasts : after(from + lasts);
    const isMass = massBreakShare > 0 && random() < massBreakShare;
    found.push({
      tests: isMass ? mostOfJob(tests, jobs, random) : victimsOf(tests, jobs, random),
      from,
      to,
      isFromOutside,
    });
  }
  return found.filter(({ from }) => from < Number.MAX_SAFE_INTEGER);
}

/** Mostly a test or a few, sometimes a third of a CI job. */
function victimsOf(tests: number, jobs: number, random: () => number): Set<number> {
  const luck = random();
  const ofJob = Math.ceil(tests / jobs);
  const wanted =
    luck < 0.6 ? 1 : luck < 0.85 ? 2 + random() * 4 : luck < 0.97 ? 6 + random() * 25 : ofJob * (0.1 + random() * 0.3);
  const job = Math.floor(random() * jobs);
  const victims = new Set<number>();
  for (let i = 0; i < Math.min(Math.floor(wanted), ofJob); i++) {
    const test = Math.floor(random() * ofJob) * jobs + job;
    if (test < tests) victims.add(test);
  }
  return victims;
}

function mostOfJob(tests: number, jobs: number, random: () => number): Set<number> {
  const [job, share] = [Math.floor(random() * jobs), 0.3 + 0.6 * random()];
  return new Set(
    Array.from({ length: tests }, (_, test) => test).filter((test) => jobOf(test, jobs) === job && random() < share),
  );
}

function makePhases(
  { tests, days, flakyShare, oneInAHundredShare, rateLastsDays }: WorldOptions,
  breaks: readonly Break[],
  random: () => number,
): Phase[][] {
  const phases = Array.from({ length: tests }, (): Phase[] => []);
  for (const ofTest of phases) {
    const isOneInAHundred = random() < oneInAHundredShare;
    if (random() >= flakyShare && !isOneInAHundred) continue;
    const from = START + (random() < 0.5 ? 0 : random() * 0.4 * days * DAY_MS);
    const to = START + (random() < 0.25 ? (0.6 + random() * 0.2) * days : days) * DAY_MS;
    const rate = isOneInAHundred ? 0.01 : flakyRate(random());
    if (rateLastsDays === undefined) ofTest.push({ from, to, state: 'flaky', rate });
    else ofTest.push(...changingRates({ from, to, state: 'flaky', rate }, rateLastsDays, random));
  }
  for (const { tests: broken, from, to } of breaks)
    for (const test of broken) phases[test]?.push({ from, to, state: 'broken', rate: 1 });
  return phases;
}

/** The same fault, whose rate changes at random moments: each time to a few times more or less. */
function changingRates({ from, to, state, rate }: Phase, lastsDays: number, random: () => number): Phase[] {
  const phases: Phase[] = [];
  for (let begun = from, now = rate; begun < to; ) {
    const until = Math.min(to, begun - Math.log(1 - random()) * lastsDays * DAY_MS);
    phases.push({ from: begun, to: until, state, rate: now });
    begun = until;
    now = Math.min(0.9, Math.max(0.0005, now * 10 ** (1.2 * (random() + random() + random() - 1.5))));
  }
  return phases;
}

interface Course {
  merges: readonly number[];
  breaks: readonly Break[];
  phases: readonly (readonly Phase[])[];
}

/** A pipeline that starts: all CI jobs on one commit. */
interface Start {
  at: number;
  commit: string;
  isDefaultBranch: boolean;
}

function* makeRuns(options: WorldOptions, course: Course, random: () => number): Generator<Run> {
  const { jobs, tests } = options;
  const incidents = makeIncidents(options, START, random);
  const identities = Array.from({ length: jobs }, (_, job) =>
    Array.from({ length: tests }, (_, test) => test).filter((test) => jobOf(test, jobs) === job),
  );
  const flaky = identities.map((all) =>
    all.filter((test) => course.phases[test]?.some(({ state }) => state === 'flaky')),
  );
  const starts: Start[] = [
    ...course.merges.map((at, i) => ({ at, commit: `m${i}`, isDefaultBranch: true })),
    ...momentsOf(options.pullRequestRunsPerDay, options.days, random).map((at, i) => ({
      at,
      commit: `p${i}`,
      isDefaultBranch: false,
    })),
  ].sort((a, b) => a.at - b.at);
  const waiting: Run[] = [];
  for (const start of starts) {
    yield* due(waiting, start.at);
    const ownBreak =
      !start.isDefaultBranch && random() < PULL_REQUEST_BREAK_SHARE
        ? victimsOf(tests, jobs, random)
        : new Set<number>();
    const rerunShare = start.isDefaultBranch ? options.rerunShare : options.pullRequestRerunShare;
    const seesBreaks = start.isDefaultBranch || random() < FRESH_BASE_SHARE;
    for (let job = 0; job < jobs; job++)
      for (let attempt = 1; attempt <= 2; attempt++) {
        const at = start.at + attempt * RERUN_AFTER_MS;
        const all = identities[job] ?? [];
        const broken = new Set([...ownBreak].filter((test) => jobOf(test, jobs) === job));
        for (const one of course.breaks)
          if ((seesBreaks || one.isFromOutside) && (one.isFromOutside ? at : start.at) >= one.from && start.at < one.to)
            for (const test of one.tests) if (jobOf(test, jobs) === job) broken.add(test);
        const troubles = new Map<number, Trouble>();
        const spoil = (test: number, message: string, again: number): void => {
          const isPassedOnRetry = options.isRetriedByRunner && random() >= again;
          if (!troubles.has(test)) troubles.set(test, { message, isPassedOnRetry });
        };
        for (const test of broken) spoil(test, breakMessage(test), 1);
        for (const incident of incidents)
          if (at >= incident.from && at < incident.to)
            incident.spoil({ at, job, commit: start.commit, all }, spoil, random);
        for (const test of flaky[job] ?? []) {
          const rate =
            course.phases[test]?.find((one) => one.state === 'flaky' && at >= one.from && at < one.to)?.rate ?? 0;
          if (random() < rate) spoil(test, random() < 0.7 ? `race ${test}` : `other race ${test}`, rate);
        }
        const { commit, isDefaultBranch } = start;
        waiting.push({ id: `${commit}-${job}`, attempt, job, commit, isDefaultBranch, at, identities: all, troubles });
        if (troubles.values().every((trouble) => trouble.isPassedOnRetry) || random() >= rerunShare) break;
      }
  }
  yield* due(waiting, Number.MAX_SAFE_INTEGER);
}

/** Takes out the runs that have finished by then, in order. */
function* due(waiting: Run[], by: number): Generator<Run> {
  waiting.sort((a, b) => a.at - b.at);
  while (waiting[0] !== undefined && waiting[0].at <= by) yield waiting.shift() as Run;
}
