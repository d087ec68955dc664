/**
 * What one execution may hold (design §4 "lengths", §6 "Limits"): pure checks, used by the gateway before the queue and by
 * the worker for the jobs of other producers. Lengths of names count code points, lengths of texts count UTF-8 bytes.
 */
export const TEST_NAME_LENGTH_MAX = 10_000;
export const PIPELINE_NAME_LENGTH_MAX = 255;
export const JOB_NAME_LENGTH_MAX = 255;
export const RUN_ID_LENGTH_MAX = 255;
export const COMMIT_LENGTH_MAX = 255;
export const BRANCH_LENGTH_MAX = 255;
/** A test has seldom more attempts than ten; the bound keeps one row from filling a block. */
export const FAILURES_MAX = 100;
export const MESSAGE_BYTES_MAX = 64 * 1024;
export const STACKTRACE_BYTES_MAX = 256 * 1024;
/** Exception types, file paths, functions, frameworks, URLs: shown and grouped by, so cut rather than refused. */
export const DETAIL_BYTES_MAX = 2_048;
/** Executions of one upload, over all its chunks (design §6). */
export const UPLOAD_EXECUTIONS_MAX = 100_000;

/** The pipeline or job of an upload that does not name it; the spec's identities have no empty parts. */
export const UNKNOWN = 'unknown';

/** The fields of a run that are checked. */
export interface CheckedRun {
  pipeline_name: string;
  job_name: string;
  run_id: string;
  commit: string | null;
  branch: string | null;
  base_ref: string | null;
}

/** The fields of an execution and its run that are checked. */
export interface CheckedRow {
  name: string;
  run: CheckedRun;
}

/** Why this row cannot be stored, in words for the receipt; null when it can. */
export const rejectionOf = ({ name, run }: CheckedRow): string | null => nameRejection(name) ?? runRejection(run);

/** What is wrong with a test's name. */
export const nameRejection = (name: string): string | null => textProblem('test name', name, 1, TEST_NAME_LENGTH_MAX);

/** What is wrong with all executions of a run. */
export function runRejection(run: CheckedRun): string | null {
  return (
    textProblem('pipeline name', run.pipeline_name, 1, PIPELINE_NAME_LENGTH_MAX) ??
    textProblem('job name', run.job_name, 1, JOB_NAME_LENGTH_MAX) ??
    textProblem('run id', run.run_id, 1, RUN_ID_LENGTH_MAX) ??
    textProblem('commit', run.commit ?? '', 0, COMMIT_LENGTH_MAX) ??
    textProblem('branch', run.branch ?? '', 0, BRANCH_LENGTH_MAX) ??
    textProblem('base branch', run.base_ref ?? '', 0, BRANCH_LENGTH_MAX)
  );
}

function textProblem(what: string, text: string, min: number, max: number): string | null {
  const malformed = malformedReason(text);
  if (malformed) return `the ${what} ${malformed}`;
  if (text.length < min) return `the ${what} is empty`;
  // Code points are never more than UTF-16 units: most texts need no count.
  if (text.length > max && codePointCount(text) > max) return `the ${what} is longer than ${max} characters`;
  return null;
}

/** What makes a text unfit to be stored as it is (NUL, half a surrogate pair), or null. */
export function malformedReason(text: string): string | null {
  if (text.includes('\0')) return 'holds a NUL character';
  return text.isWellFormed() ? null : 'holds half of a surrogate pair';
}

/** Length in code points, as the interface counts it (design §4). */
export function codePointCount(text: string): number {
  let count = text.length;
  for (let i = 0; i < text.length - 1; i++)
    if (isHighSurrogate(text.charCodeAt(i)) && isLowSurrogate(text.charCodeAt(i + 1))) count--;
  return count;
}

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff;
const isLowSurrogate = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff;

/** Bytes kept free for the mark that a cut leaves. */
const MARK_BYTES_MAX = 64;

/**
 * A text that fits into `maxBytes` of UTF-8: well-formed, NUL replaced by U+FFFD, and when it was too long cut on a code
 * point and marked. Cutting twice changes nothing: the result fits.
 *
 * @example cutText('x'.repeat(70_000), 65_536) // 'xxx… [cut, 70000 bytes in all]'
 */
export function cutText(text: string, maxBytes: number): string {
  const clean = cleanText(text);
  // A UTF-16 unit is at most three bytes: short texts need no count.
  if (clean.length * 3 <= maxBytes) return clean;
  const bytes = Buffer.byteLength(clean);
  if (bytes <= maxBytes) return clean;
  const room = Math.max(0, maxBytes - MARK_BYTES_MAX);
  const { read } = new TextEncoder().encodeInto(clean, new Uint8Array(room));
  return `${clean.slice(0, read)}… [cut, ${bytes} bytes in all]`;
}

/**
 * An address that a page may link to, or null: `javascript:` and other schemes are dropped, and so is what is too long, because
 * a cut address leads somewhere else.
 */
export function webAddressOf(address: string | null): string | null {
  if (address === null || !address.isWellFormed() || !/^https?:\/\/[^\s\p{Cc}]+$/iu.test(address)) return null;
  return Buffer.byteLength(address) > DETAIL_BYTES_MAX ? null : address;
}

/** Well-formed and without NUL, for texts that may be changed to be stored. */
export function cleanText(text: string): string {
  const wellFormed = text.isWellFormed() ? text : text.toWellFormed();
  return wellFormed.includes('\0') ? wellFormed.replaceAll('\0', '\uFFFD') : wellFormed;
}
