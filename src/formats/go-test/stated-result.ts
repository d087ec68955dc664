/**
 * The beginning and the result of a test where they stand after other output: `loading 100%--- PASS: TestProgress
 * (0.01s)`. With `-v`, Go writes no event then (golang/go#26325).
 */
import type { Status } from '../../domain/status.ts';

export interface StatedResult {
  test: string;
  status: Status;
  seconds: number;
  /** Output of the test in front of it. */
  before: string;
}

const STATUSES: Readonly<Record<string, Status>> = { PASS: 'passed', FAIL: 'failed', SKIP: 'skipped' };
const RESULT = /^--- (PASS|FAIL|SKIP): (.+) \((\d+(?:\.\d+)?)s\)\s*$/;
const MARK = '--- ';

/** Null for output that does not end with a result, and for a result that has the line for itself. */
export function statedResult(text: string): StatedResult | null {
  // Names cannot contain blanks, so the last mark is the one.
  const start = text.lastIndexOf(MARK);
  if (start < 0 || text.slice(0, start).trim() === '') return null;
  const [, word = '', test, seconds] = RESULT.exec(text.slice(start)) ?? [];
  const status = STATUSES[word];
  if (status === undefined || test === undefined) return null;
  return { test, status, seconds: Number(seconds), before: text.slice(0, start) };
}

const RUN = /^=== RUN {3}(\S+)\s*$/;
const RUN_MARK = '=== RUN ';

/** The test that begins at the end of other output; null if none does. */
export function statedRun(text: string): { test: string; before: string } | null {
  const start = text.lastIndexOf(RUN_MARK);
  const test = start > 0 ? RUN.exec(text.slice(start))?.[1] : undefined;
  return test === undefined ? null : { test, before: text.slice(0, start) };
}
