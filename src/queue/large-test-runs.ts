/**
 * The track of large uploads: the same jobs as `test-runs`, in a queue with its own worker, memory and blocks. A small upload
 * never waits for one of these, however many wait.
 */
import { defineJob } from './job-kind.ts';
import { testRuns } from './test-runs.ts';

/**
 * Jobs of an upload are large if they are longer together, in UTF-16 units of JSON. So long are some 2,500 executions that
 * passed, or eight failures with the longest texts.
 */
const SMALL_LENGTH_MAX = 512 * 1024;

export const isLarge = (jsonLength: number): boolean => jsonLength > SMALL_LENGTH_MAX;

export const largeTestRuns = defineJob({
  ...testRuns,
  name: 'large-test-runs',
  // The payload is that of `test-runs`, whose schema is published.
  isInternal: true,
  // Two of 4 MiB fill a block; of those that are just large, so many do.
  concurrency: 2,
  concurrencySmall: 16,
});
