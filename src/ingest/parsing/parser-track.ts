/**
 * Uploads that are small once they are unpacked are parsed in milliseconds. They have a separate track, so that they never wait for
 * large ones.
 */
import type { ParseTask } from './task.ts';

export type ParserTrack = 'small' | 'large';

/** Some 5,000 executions that passed. */
const SMALL_BYTES_MAX = 1024 * 1024;

/** By what the body says of itself: {@link asSmall} sees to it that it is so. */
export function trackOf({ isGzip }: Pick<ParseTask, 'isGzip'>, body: Uint8Array): ParserTrack {
  return Math.max(body.length, isGzip ? statedLength(body) : 0) <= SMALL_BYTES_MAX ? 'small' : 'large';
}

/** The last four bytes of gzip. */
const statedLength = (gzip: Uint8Array): number =>
  gzip.length < 4 ? 0 : new DataView(gzip.buffer, gzip.byteOffset + gzip.length - 4, 4).getUint32(0, true);

/** The task such that what unpacks to more is refused as too large. Then it is to be parsed as a large one. */
export const asSmall = (task: ParseTask): ParseTask => ({
  ...task,
  limits: { ...task.limits, unpackedBytesMax: Math.min(task.limits.unpackedBytesMax, SMALL_BYTES_MAX) },
});
