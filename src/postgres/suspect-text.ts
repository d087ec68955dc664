/**
 * The recent executions of a suspect as they are stored: one JSON list without names, because every pass rewrites one for each
 * suspect that ran. Runs are named once. Ids are in base 36.
 */
import type { JudgedExecution } from '../domain/execution.ts';
import type { Suspect } from '../domain/suspect.ts';

type StoredRun = [runId: string, runAttempt: number, commit: string];
/** Four values for each execution: milliseconds since the one before, its run, {@link FAILED} and {@link FLAKY}, and its id. */
type StoredExecutions = (number | string)[];
type Stored = [runs: StoredRun[], executions: StoredExecutions, flaky: string[], flakyForGood: string[]];

const FAILED = 1;
const FLAKY = 2;
const RADIX = 36;

export function writeRecent({
  recent,
  flaky,
  flakyForGood,
}: Pick<Suspect, 'recent' | 'flaky' | 'flakyForGood'>): string {
  const runs: StoredRun[] = [];
  const places = new Map<string, number>();
  const executions: StoredExecutions = [];
  let before = 0;
  for (const { runId, runAttempt, commit, ...execution } of recent) {
    const run: StoredRun = [runId, runAttempt, commit];
    const key = JSON.stringify(run);
    const place = places.get(key) ?? runs.push(run) - 1;
    places.set(key, place);
    const result = (execution.status === 'failed' ? FAILED : 0) + (execution.isFlakyWithinRun ? FLAKY : 0);
    executions.push(execution.finishedAt - before, place, result, execution.executionId.toString(RADIX));
    before = execution.finishedAt;
  }
  return JSON.stringify([runs, executions, [...flaky], [...flakyForGood]] satisfies Stored);
}

/** Reads what {@link writeRecent} writes. Only this file writes it, so its parts are checked, and not every value. */
export function readRecent(text: string): Pick<Suspect, 'recent' | 'flaky' | 'flakyForGood'> {
  const value: unknown = JSON.parse(text);
  if (!isStored(value))
    throw new TypeError('the recent executions of a suspect have other parts than they are written with');
  const [runs, executions, flaky, flakyForGood] = value;
  const recent: JudgedExecution[] = [];
  let finishedAt = 0;
  for (let i = 0; i + 3 < executions.length; i += 4) {
    finishedAt += Number(executions[i]);
    const [runId = '', runAttempt = 0, commit = ''] = runs[Number(executions[i + 1])] ?? [];
    const result = Number(executions[i + 2]);
    recent.push({
      ...{ finishedAt, runId, runAttempt, commit },
      executionId: idOf(String(executions[i + 3])),
      status: (result & FAILED) === 0 ? 'passed' : 'failed',
      isFlakyWithinRun: (result & FLAKY) !== 0,
      isRetried: false,
    });
  }
  return { recent, flaky: new Set(flaky), flakyForGood: new Set(flakyForGood) };
}

const isStored = (value: unknown): value is Stored =>
  Array.isArray(value) && value.length === 4 && value.every((part) => Array.isArray(part));

/** `BigInt` reads no base 36. Each half of the digits is an exact number. */
function idOf(digits: string): bigint {
  const low = digits.slice(-HALF);
  const high = digits.slice(0, -HALF);
  return BigInt(high === '' ? 0 : Number.parseInt(high, RADIX)) * HALF_VALUE + BigInt(Number.parseInt(low, RADIX));
}
const HALF = 8;
const HALF_VALUE = BigInt(RADIX) ** BigInt(HALF);
