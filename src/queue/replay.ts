/** Dead letters back into the queue that each was of. */

import type { DeadLetter, DeadLetterStore } from '../postgres/dead-letters.ts';
import { prEvents, testRuns } from './catalogue.ts';
import type { PrEventsProducer, TestRunsProducer } from './producer.ts';

export interface Producers {
  testRuns: Pick<TestRunsProducer, 'addAgain'>;
  prEvents: Pick<PrEventsProducer, 'addAgain'>;
}

/** Throws for a letter of a queue that there is none of, which is not marked then. */
export async function replayDeadLetters(
  deadLetters: DeadLetterStore,
  producers: Producers,
  letters: readonly DeadLetter[],
): Promise<void> {
  const byQueue = new Map([
    [testRuns.name, producers.testRuns],
    [prEvents.name, producers.prEvents],
  ] as [string, Producers[keyof Producers]][]);
  for (const { id, queue, jobId } of letters) {
    const producer = byQueue.get(queue);
    if (!producer) throw new Error(`dead letter ${id} is of the queue ${queue}, which this version does not know`);
    // Queued first: a crash in between replays it twice, which counts nothing twice.
    await producer.addAgain(jobId, await deadLetters.payload(id));
    await deadLetters.markReplayed(id);
  }
}
