/**
 * What one execution may be (design §4 "lengths", §6 "Limits"): checked where uploads come in, and again where jobs are
 * taken from the queue, because any producer may have put them there.
 */
import type { Run } from '../queue/test-runs.ts';

/** In code points. */
export const TEST_NAME_LENGTH_MAX = 10_000;
export const NAME_LENGTH_MAX = 255;

/** In bytes of UTF-8. */
export const MESSAGE_BYTES_MAX = 64 * 1024;
export const STACKTRACE_BYTES_MAX = 256 * 1024;

/** Why an execution cannot be stored, as a sentence's part for the receipt; null when it can. */
export function rejectionOf({ name, run }: { name: string; run: Run }): string | null {
  return (
    textRejection('the test name', name, 1, TEST_NAME_LENGTH_MAX) ??
    textRejection('the pipeline name', run.pipeline_name, 1, NAME_LENGTH_MAX) ??
    textRejection('the job name', run.job_name, 1, NAME_LENGTH_MAX) ??
    textRejection('the run id', run.run_id, 0, NAME_LENGTH_MAX) ??
    textRejection('the commit', run.commit ?? '', 0, NAME_LENGTH_MAX) ??
    textRejection('the branch', run.branch ?? '', 0, NAME_LENGTH_MAX) ??
    textRejection('the base ref', run.base_ref ?? '', 0, NAME_LENGTH_MAX)
  );
}

function textRejection(what: string, text: string, min: number, max: number): string | null {
  if (text.includes('\0')) return `${what} holds a NUL character`;
  if (!text.isWellFormed()) return `${what} holds half of a surrogate pair`;
  if (text.length < min) return `${what} is empty`;
  // A code point is one or two units: most names need no counting.
  if (text.length > max && codePoints(text) > max) return `${what} is longer than ${max} characters`;
  return null;
}

/** Stops counting far beyond every limit. */
function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) if (++count > TEST_NAME_LENGTH_MAX) break;
  return count;
}

/**
 * The text as it is stored: well-formed, without NUL, and no longer than so many bytes. What is cut ends on a code point and
 * says how long it was.
 */
export function cutText(text: string, bytesMax: number): string {
  const clean = text.toWellFormed().replaceAll('\0', '\uFFFD');
  if (clean.length * 3 <= bytesMax) return clean;
  const bytes = Buffer.from(clean, 'utf8');
  if (bytes.length <= bytesMax) return clean;
  const mark = `… [cut, ${bytes.length} bytes in all]`;
  let end = bytesMax - Buffer.byteLength(mark);
  // A byte 10xxxxxx goes on with a code point that began before it.
  while (end > 0 && ((bytes[end] as number) & 0b1100_0000) === 0b1000_0000) end--;
  return bytes.subarray(0, end).toString('utf8') + mark;
}
