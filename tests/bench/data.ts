/**
 * Generated history of a few repositories, from a seed: tests by Zipf (a few run thousands of times, most rarely), most
 * runs on the default branch, a few per cent failing with messages that group.
 */
import { z } from 'zod';
import type { TestRunsJob } from '../../src/queue/test-runs.ts';
import { randomFrom } from '../support/random.ts';

export const sourceSchema = z.object({
  seed: z.number(),
  executions: z.number(),
  /** Number in each repository. */
  tests: z.number(),
  repositories: z.number(),
  /** Executions of one job. */
  chunk: z.number(),
  /** The newest execution; milliseconds since the epoch. */
  now: z.number(),
  days: z.number(),
  /** Every job has every test once; without, tests are drawn. */
  isEachTest: z.boolean(),
  /** How much more often the first tests are drawn: with a probability of 1 / rank ^ skew. */
  skew: z.number().default(1),
  /** The share of tests that fail now and then, and how often each does. */
  unreliable: z.number().default(0.02),
  failing: z.number().default(0.05),
});
export type DataOptions = z.input<typeof sourceSchema>;

export const ownerOf = 'bench';
export const repositoryName = (index: number): string => `repo-${index}`;
const testName = (index: number): string =>
  `suite ${index % 97} > feature ${index % 1_009} > does thing ${index} [case ${index % 7}]`;

/** Jobs in order of time, each with executions of different tests. */
export function* makeJobs(options: DataOptions): Generator<TestRunsJob> {
  const random = randomFrom(options.seed);
  const pickTest = zipf(options.tests, options.skew ?? 1, random);
  const jobs = Math.ceil(options.executions / options.chunk);
  const start = options.now - options.days * 86_400_000;
  const hex = (): string =>
    Math.floor(random() * 2 ** 32)
      .toString(16)
      .padStart(8, '0');
  for (let index = 0; index < jobs; index++) {
    const finished = start + ((index + 1) / jobs) * options.days * 86_400_000;
    const isPullRequest = random() < 0.2;
    const count = Math.min(options.chunk, options.executions - index * options.chunk);
    const picked = Array.from({ length: count }, options.isEachTest ? (_, row) => row % options.tests : pickTest);
    const isUnreliable = (test: number): boolean => test % 50 < 50 * (options.unreliable ?? 0.02);
    const failed = picked.map((test) => random() < (isUnreliable(test) ? (options.failing ?? 0.05) : 0.002));
    const rows = failed.flatMap((isFailed, row) => (isFailed ? [row] : []));
    yield {
      v: 1,
      upload_id: `${hex()}-${hex().slice(0, 4)}-4${hex().slice(0, 3)}-8${hex().slice(0, 3)}-${hex()}${hex().slice(0, 4)}`,
      chunk: { index: 0, count: 1 },
      received_at: new Date(finished).toISOString(),
      arrived_at: null,
      format: null,
      sender: null,
      repository: { host: 'github.com', owner: ownerOf, name: repositoryName(index % options.repositories) },
      run: {
        pipeline_name: 'CI',
        job_name: `job ${index % 4}`,
        // Jobs that are fed in later, from another seed, have their own runs and commits.
        run_id: String(options.seed * 1_000_000 + Math.floor(index / 4)),
        run_attempt: 1,
        commit: (options.seed * 2 ** 32 + Math.floor(index / 8)).toString(16).padStart(40, '0'),
        branch: isPullRequest ? `feature-${index % 300}` : 'main',
        base_ref: isPullRequest ? 'main' : null,
        pull_request: isPullRequest ? 1 + (index % 5_000) : null,
        default_branch: 'main',
        framework: 'vitest',
        framework_version: '3.2.4',
        language: 'javascript',
        job_url: `https://ci.example.com/runs/${index}`,
      },
      sources: [`${options.seed}-${index}`],
      executions: {
        source: picked.map(() => 0),
        key: picked.map((_, row) => `span-${row}`),
        name: picked.map(testName),
        status: picked.map((test, row) => (failed[row] ? 'failed' : test % 41 === 0 ? 'skipped' : 'passed')),
        duration_s: picked.map(() => Math.round(random() * 2_000) / 1_000),
        finished_at_ms: picked.map((_, row) => Math.floor(finished - (count - row) * 20)),
        filepath: picked.map((test) => `src/feature-${test % 1_009}/thing.test.ts`),
        function: picked.map(() => null),
        is_flaky: picked.map(() => false),
        is_quarantined: picked.map(() => false),
        is_retried: picked.map(() => false),
      },
      failures: {
        execution: rows,
        attempt: rows.map(() => 1),
        type: rows.map((row) => ['AssertionError', 'TimeoutError', 'TypeError'][(picked[row] as number) % 3] as string),
        message: rows.map((row) => `expected ${row} to equal ${row + 1} in thing ${(picked[row] as number) % 5}`),
        stacktrace: rows.map((row) => `Error\n${'    at frame (src/thing.ts:1:1)\n'.repeat(10 + (row % 10))}`),
      },
      rejections: [],
      warnings: [],
    };
  }
}

/** Draws from 0 (most frequent) to n − 1, with probability ∝ 1 / (rank + 1) ^ skew. */
export function zipf(n: number, skew: number, random: () => number): () => number {
  const cumulative = new Float64Array(n);
  let sum = 0;
  for (let rank = 0; rank < n; rank++) {
    sum += 1 / (rank + 1) ** skew;
    cumulative[rank] = sum;
  }
  return () => {
    const target = random() * sum;
    let low = 0;
    let high = n - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((cumulative[middle] as number) < target) low = middle + 1;
      else high = middle;
    }
    return low;
  };
}
