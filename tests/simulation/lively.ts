/** A world as a repository that looks alive: names, messages, stacks, commits instead of numbers. */
import { createHash } from 'node:crypto';
import { DAY_MS } from '../../src/domain/time.ts';
import type { TestRunsJob } from '../../src/queue/test-runs.ts';
import { makeJob } from '../support/jobs.ts';
import type { Run } from './history.ts';
import type { LivelyRepository } from './lively-repositories.ts';
import { CACHE_AWAY, LATE_MAIL, NEW_CONTRACT } from './lively-scenes.ts';

const SUBJECTS = ['totals', 'discounts', 'addresses', 'refunds', 'sessions', 'prices', 'stock', 'invoices', 'coupons'];
const DEEDS = [
  'adds an item',
  'removes the last item',
  'applies a [10%] coupon',
  'rounds to whole cents',
  'keeps the order of lines',
  'refuses an expired card',
  'retries after a conflict',
  'shows an empty state',
  'survives a reload',
  'sends one mail only',
  'handles *wildcards* in names',
  'converts currencies',
];
/** Messages of failures, by the words in which the world gives their cause. */
const SAYINGS: readonly (readonly [RegExp, { type: string; message: string }])[] = [
  [
    new RegExp(`^${CACHE_AWAY}`),
    { type: 'TimeoutError', message: 'redis://cache-1:6379 did not answer within 5000 ms' },
  ],
  [
    new RegExp(`^${NEW_CONTRACT}`),
    { type: 'AssertionError', message: "expected status 200, got 422: unknown field 'coupon_code'" },
  ],
  [new RegExp(`^${LATE_MAIL}`), { type: 'AssertionError', message: 'expected 1 mail within 2 s, got 0' }],
  [/^race/, { type: 'TimeoutError', message: "locator('#total') was not visible within 5000 ms" }],
  [/^other race/, { type: 'AssertionError', message: 'expected 3 messages, got 2' }],
  [/^assertion \d*[02468]$/, { type: 'AssertionError', message: "expected 'pending' to equal 'paid'" }],
  [/^assertion/, { type: 'TypeError', message: "Cannot read properties of undefined (reading 'currency')" }],
  [/./, { type: 'ConnectionError', message: 'connect ECONNREFUSED 10.0.4.17:5432' }],
];

/** Machines of the CI, by job. One of them has been ill for three weeks, and fails in another test each time. */
const RUNNERS = [1, 2, 3].map((number) => `runner-${number}`);
const LARGE_RUNNERS = [4, 5, 6].map((number) => `runner-${number}`);
const ILL_RUNNER = 'runner-4';
const ILL_MS = 21 * DAY_MS;
const NO_SPACE = { type: 'OSError', message: 'ENOSPC: no space left on device, write' };

/** A test that waits for a new service, and takes three times as long, since eleven days. */
const GROWN_TEST = 17;
const GROWN_MS = 11 * DAY_MS;
const GROWN_TIMES = 3;

export const of = <T>(list: readonly T[], number: number): T => list[number % list.length] as T;
/** Hash in the form of a commit's. */
export const hashOf = (text: string): string => createHash('sha1').update(text).digest('hex');

/** A test whose file was renamed four days ago, and its name with it. */
export const MOVED_TEST = 25;
const MOVED_MS = 4 * DAY_MS;

/** The file, and the name below it, so long ago. */
export function placeOf({ areas, fileOf }: LivelyRepository, index: number, agoMs = 0): { name: string; file: string } {
  const [area, subject, deed] = [of(areas, index), of(SUBJECTS, index * 7), of(DEEDS, index * 5)];
  const file = fileOf(area, index === MOVED_TEST && agoMs > MOVED_MS ? `old-${subject}` : subject);
  return { name: `${file} > ${area} > ${subject} > ${deed} #${index}`, file };
}

/** How long a test takes, so long ago; from one run to the next, a tenth more or less. */
function secondsOf(index: number, agoMs: number, dice: number): number {
  const usual = 0.02 + ((index * 37) % 90) / 100;
  const isGrown = index === GROWN_TEST && agoMs < GROWN_MS;
  return usual * (isGrown ? GROWN_TIMES : 1) * (0.95 + ((dice + index * 13) % 100) / 1_000);
}

/** The CI provider's id of what ran on a commit. */
export const runIdOf = ({ commit, isDefaultBranch }: Pick<Run, 'commit' | 'isDefaultBranch'>): string =>
  `${(isDefaultBranch ? 10_000 : 50_000) + Number(commit.slice(1))}`;

interface About {
  repository: LivelyRepository;
  /** Milliseconds. */
  now: number;
  /** The pull request of its commit; undefined: it ran on the default branch. */
  pull: { number: number; branch: string } | undefined;
}

/** The job of a run, which began when the run says. */
export function jobOf(run: Run, { repository, now, pull }: About): TestRunsJob {
  const { owner, name, jobs, tool } = repository;
  const startedAt = run.at;
  const runId = runIdOf(run);
  const dice = Number.parseInt(hashOf(`${run.id} ${run.attempt}`).slice(0, 7), 16);
  const runner = of(of(jobs, run.job) === 'integration' ? LARGE_RUNNERS : RUNNERS, dice);
  // Off the default branch, so that it costs time and calls no test flaky.
  const isIll = runner === ILL_RUNNER && pull !== undefined && now - startedAt < ILL_MS && (dice >> 8) % 10 < 8;
  const ill = isIll ? of(Array.from(run.identities), Math.floor(dice / 64)) : undefined;
  return makeJob({
    repository: { owner, name },
    receivedAt: now,
    source: `${run.id} ${run.attempt}`,
    run: {
      pipeline_name: 'CI',
      job_name: of(jobs, run.job),
      run_id: runId,
      run_attempt: run.attempt,
      commit: hashOf(run.commit),
      default_branch: 'main',
      ...(pull === undefined
        ? { branch: 'main' }
        : { branch: pull.branch, base_ref: 'main', pull_request: pull.number }),
      place: { runner, region: dice % 2 === 0 ? 'eu-west' : 'us-east' },
      ...tool,
      job_url: `https://ci.example.com/${owner}/${name}/runs/${runId}/jobs/${run.job}`,
    },
    executions: Array.from(run.identities, (index) => {
      const { name, file } = placeOf(repository, index, now - startedAt);
      const trouble = index === ill ? undefined : run.troubles.get(index);
      const says = index === ill ? NO_SPACE : trouble && SAYINGS.find(([cause]) => cause.test(trouble.message))?.[1];
      const frames = `\n    at ${file}:${12 + (index % 80)}:9\n    at runTest (runner.ts:301:11)`;
      return {
        name,
        filepath: file,
        status: index === ill || (trouble && !trouble.isPassedOnRetry) ? 'failed' : 'passed',
        at: Math.min(startedAt + (index % 600) * 1_000, now),
        durationSeconds: secondsOf(index, now - startedAt, dice) + (says?.type === 'TimeoutError' ? 5 : 0),
        isFlaky: trouble?.isPassedOnRetry ?? false,
        isRetried: trouble?.isPassedOnRetry ?? false,
        ...(says && { failures: [{ ...says, stacktrace: `${says.type}: ${says.message}${frames}` }] }),
      };
    }),
  });
}
