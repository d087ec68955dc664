/**
 * The track of imported results: the same jobs as `test-runs`, with the time at which they would have arrived. They have their
 * own queue, worker and blocks, so results that are live wait for none of them.
 */
import { defineJob } from './job-kind.ts';
import { testRuns } from './test-runs.ts';

/** An import sends no more while so many jobs wait: a minute of work at most. */
export const IMPORTED_JOBS_MAX = 256;

export const importedTestRuns = defineJob({
  ...testRuns,
  name: 'imported-test-runs',
  // The payload is that of `test-runs`, whose schema is published.
  isInternal: true,
  concurrency: 2,
  concurrencySmall: 64,
});
