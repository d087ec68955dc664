/** The tests of a repository in batches, which are read, counted and written at the same time. */
import { TESTS_MAX } from './store.ts';
import type { TouchedTest } from './touched.ts';

/**
 * About how many are read at once. Of each repository, three batches are in memory: one is read, one is counted, and one is
 * written. With 5,000, a pass of 100,000 tests took 1.5 times as long to collect garbage, and 100 MiB more.
 */
const IDENTITIES_AT_ONCE = 1_000;

export function* batchesOf<V extends TouchedTest>(tests: ReadonlyMap<string, V>): Generator<Map<string, V>> {
  let batch = new Map<string, V>();
  let identities = 0;
  for (const [testId, test] of tests) {
    if (batch.size === TESTS_MAX || identities >= IDENTITIES_AT_ONCE) {
      yield batch;
      batch = new Map();
      identities = 0;
    }
    batch.set(testId, test);
    identities += test.news?.identities.length ?? 0;
  }
  if (batch.size > 0) yield batch;
}

/** What is done with a batch, in this order. */
export interface BatchSteps<Batch, Known, Counted> {
  readAhead(batch: Batch): Promise<Known>;
  /** Writes nothing. */
  count(batch: Batch, known: Known): Promise<Counted>;
  writeCounted(counted: Counted): Promise<void>;
}

/**
 * While one batch is written, the next is counted, and the one after it is read: PostgreSQL and this process work at the
 * same time. A test is in one batch only, and the lock of the repository keeps others from writing, so what is read
 * ahead is not outdated.
 */
export async function inTurns<Batch, Known, Counted>(
  steps: BatchSteps<Batch, Known, Counted>,
  batches: readonly Batch[],
  beforeBatch: () => void,
): Promise<void> {
  const readAhead = (batch: Batch) => handled(steps.readAhead(batch));
  let reading: Promise<Known> | undefined;
  let writing: Promise<void> = Promise.resolve();
  try {
    for (const [i, batch] of batches.entries()) {
      beforeBatch();
      const known = await (reading ?? readAhead(batch));
      const next = batches[i + 1];
      reading = next === undefined ? undefined : readAhead(next);
      const counted = await steps.count(batch, known);
      await writing;
      writing = handled(steps.writeCounted(counted));
    }
  } finally {
    // The transaction is not ended while something is written in it.
    await Promise.allSettled([reading, writing]);
  }
  await writing;
}

/** A promise that is waited for later. Without this, its failure would end the process before that. */
function handled<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}
