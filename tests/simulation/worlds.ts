/** The repositories that `bun run simulate` tries the rules on. */
import type { WorldOptions } from './world.ts';

type Kind = Omit<WorldOptions, 'seed'>;

const REPOSITORY: Kind = {
  name: '',
  days: 60,
  tests: 300,
  jobs: 2,
  mergesPerDay: 8,
  pullRequestRunsPerDay: 16,
  rerunShare: 0.5,
  pullRequestRerunShare: 0.5,
  isRetriedByRunner: false,
  flakyShare: 0.08,
  oneInAHundredShare: 0,
  breaksPerWeek: 2,
  incidentsPerWeek: 1,
};

/** Every world but the first has infrastructure trouble. */
export const KINDS: readonly Kind[] = [
  { ...REPOSITORY, name: 'no infrastructure trouble', incidentsPerWeek: 0 },
  {
    ...REPOSITORY,
    name: '2 merges a day, no reruns',
    days: 90,
    rerunShare: 0,
    mergesPerDay: 2,
    oneInAHundredShare: 0.05,
    pullRequestRunsPerDay: 12,
  },
  { ...REPOSITORY, name: '8 merges a day, reruns' },
  {
    ...REPOSITORY,
    name: '25 merges a day, retries in the run',
    days: 40,
    mergesPerDay: 25,
    pullRequestRunsPerDay: 25,
    isRetriedByRunner: true,
    rerunShare: 0.2,
  },
  {
    ...REPOSITORY,
    name: '50 merges a day, no reruns',
    days: 30,
    mergesPerDay: 50,
    pullRequestRunsPerDay: 10,
    rerunShare: 0,
  },
  {
    ...REPOSITORY,
    name: '200 merges a day',
    days: 20,
    mergesPerDay: 200,
    pullRequestRunsPerDay: 50,
    rerunShare: 0.3,
    incidentsPerWeek: 2,
  },
  {
    ...REPOSITORY,
    name: '5,000 tests',
    days: 28,
    tests: 5_000,
    jobs: 4,
    mergesPerDay: 6,
    pullRequestRunsPerDay: 6,
    breaksPerWeek: 5,
  },
  { ...REPOSITORY, name: '40 tests', tests: 40, jobs: 1, breaksPerWeek: 1, flakyShare: 0.1 },
];

/** Flaky tests fail more or less often after some days. Not in the sum of all worlds: they are for recoveries. */
export const CHANGING: readonly Kind[] = [2, 8, 50, 200].map((mergesPerDay) => ({
  ...REPOSITORY,
  name: `rates that change, ${mergesPerDay} merges a day`,
  days: mergesPerDay > 100 ? 30 : 60,
  mergesPerDay,
  flakyShare: 0.15,
  rateLastsDays: 10,
}));

/** Half of the breaks hit most of a CI job, beside outages of the same size. Not in the sum: their tests would outweigh it. */
export const MASS: readonly Kind[] = [4, 15, 50].map((mergesPerDay) => ({
  ...REPOSITORY,
  name: `breaks of most of a job, ${mergesPerDay} merges a day`,
  days: mergesPerDay > 30 ? 30 : 60,
  mergesPerDay,
  massBreakShare: 0.5,
}));

/** Not in the sum of all worlds: its thousands of flaky tests would outweigh the others. */
export const LARGE: Kind = {
  ...REPOSITORY,
  name: '50,000 tests',
  days: 28,
  tests: 50_000,
  jobs: 20,
  mergesPerDay: 3,
  pullRequestRunsPerDay: 6,
  breaksPerWeek: 10,
};

/** Thirty small repositories count as one world. */
export const SMALL: Kind = {
  ...REPOSITORY,
  name: 'five tests',
  tests: 5,
  jobs: 1,
  mergesPerDay: 5,
  pullRequestRunsPerDay: 8,
  breaksPerWeek: 0.25,
  incidentsPerWeek: 0.5,
  flakyShare: 0.1,
};
export const SMALL_COUNT = 30;
