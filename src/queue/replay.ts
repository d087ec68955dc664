/** Puts dead letters back into the queues they came from. */
import type { AuditActor } from '../domain/audit.ts';
import type { DeadLetter, DeadLetterStore } from '../postgres/dead-letters.ts';
import type { Producers } from './producer.ts';

/** Throws for a letter of a queue that this version does not know; that letter is not marked as replayed. */
export async function replayDeadLetters(
  deadLetters: DeadLetterStore,
  producers: Pick<Producers, 'ofQueue'>,
  letters: readonly DeadLetter[],
  by: AuditActor,
): Promise<void> {
  for (const letter of letters) {
    const { id, queue, jobId } = letter;
    const producer = producers.ofQueue(queue);
    if (!producer) throw new Error(`dead letter ${id} is from the queue ${queue}, which this version does not know`);
    // Queued first: a crash in between replays it twice, which counts nothing twice.
    await producer.addAgain(jobId, await deadLetters.payload(id));
    await deadLetters.markReplayed(letter, by);
  }
}
