/**
 * Turns of what holds the event loop for milliseconds, such as reading a body of megabytes: however many requests want it at
 * the same moment, between two turns the process does everything else that waits.
 */
import { setImmediate } from 'node:timers/promises';

/** A body that states no more is read in a millisecond. */
const SMALL_BYTES_MAX = 64 * 1024;

let last: Promise<unknown> = Promise.resolve();

/** Resolves for one caller at a time, in order, with a round of the event loop between two. */
export function turn(): Promise<unknown> {
  last = last.then(() => setImmediate());
  return last;
}

const noTurn = (): undefined => undefined;

/** Called before each step of the work on a request: {@link turn}, unless its body is small. */
export function turnsOf(request: Request): () => Promise<unknown> | undefined {
  if (request.body === null) return noTurn;
  const stated = request.headers.get('content-length');
  return stated !== null && Number(stated) <= SMALL_BYTES_MAX ? noTurn : turn;
}
