/** A prepared chunk, of which all steps are taken at once. */
import { type PreparedChunk, type PrepareOptions, preparingChunk } from '../../src/ledger/prepare.ts';
import type { TestRunsJob } from '../../src/queue/test-runs.ts';

export function prepareChunk(job: TestRunsJob, options: PrepareOptions): PreparedChunk {
  const preparing = preparingChunk(job, options);
  for (;;) {
    const step = preparing.next();
    if (step.done) return step.value;
  }
}
