/**
 * The summary of an identity as it is stored: one JSON text without names. Every run rewrites it for each of its tests,
 * and one text costs a tenth of what `jsonb` or a column for each part does.
 */
import { type SQL, sql } from 'drizzle-orm';
import { type DayCounts, type MonthCounts, NO_COUNTS } from '../domain/flat-counts.ts';
import { STATUSES, type Status } from '../domain/status.ts';
import type { IdentitySummary, SummarisedExecution } from '../domain/test-state.ts';

/** @typeParam S how its status is written */
type StoredNewest<S> = [
  finishedAt: number,
  executionId: string,
  status: S,
  framework: string,
  frameworkVersion: string,
  language: string,
  filepath: string,
  fn: string,
];
type Stored = [
  /** When its newer checkpoint is. */
  checkpointAt: number,
  months: MonthCounts,
  firstDay: number,
  /** See {@link packDays}. */
  days: PackedDays,
  /** How long before the newest execution it last passed and failed, in milliseconds. */
  sinceSuccess: number | null,
  sinceFailure: number | null,
  /** Its status is its place in `STATUSES`. */
  newest: StoredNewest<number> | null,
];

/** How rows were written before. They stay so until their test runs again. */
type Former = [
  checkpointAt: number,
  months: MonthCounts,
  days: DayCounts,
  lastSuccessAt: number | null,
  lastFailureAt: number | null,
  newest: StoredNewest<Status> | null,
];

/**
 * Only this file writes them, so the parts are checked and not every number: every run reads one for each of its tests,
 * and a schema for each number would take longer than parsing the JSON.
 */
const isStored = (value: unknown): value is Stored =>
  Array.isArray(value) &&
  value.length === 7 &&
  typeof value[0] === 'number' &&
  Array.isArray(value[1]) &&
  typeof value[2] === 'number' &&
  Array.isArray(value[3]) &&
  isMoment(value[4]) &&
  isMoment(value[5]) &&
  isNewest(value[6], (status) => typeof status === 'number');
const isFormer = (value: unknown): value is Former =>
  Array.isArray(value) &&
  value.length === 6 &&
  typeof value[0] === 'number' &&
  Array.isArray(value[1]) &&
  Array.isArray(value[2]) &&
  isMoment(value[3]) &&
  isMoment(value[4]) &&
  isNewest(value[5], (status) => STATUSES.some((known) => known === status));

function parsed(text: string): Stored | Former {
  const value: unknown = JSON.parse(text);
  if (isStored(value) || isFormer(value)) return value;
  throw new TypeError('a stored summary has other parts than it is written with');
}

const isMoment = (value: unknown): boolean => value === null || typeof value === 'number';
const isNewest = (value: unknown, isStatus: (status: unknown) => boolean): boolean =>
  value === null ||
  (Array.isArray(value) &&
    value.length === 8 &&
    typeof value[0] === 'number' &&
    typeof value[1] === 'string' &&
    isStatus(value[2]) &&
    areTexts(value, 3));
function areTexts(values: readonly unknown[], from: number): boolean {
  for (let i = from; i < values.length; i++) if (typeof values[i] !== 'string') return false;
  return true;
}

export interface StoredSummary {
  summary: IdentitySummary;
  /** When its newer checkpoint is; milliseconds since the epoch, 0 without one. */
  checkpointAt: number;
}

export function writeSummary({ summary, checkpointAt }: StoredSummary): string {
  const { months, days, lastSuccessAt, lastFailureAt, newest } = summary;
  const newestFields = newest && [
    newest.finishedAt,
    newest.executionId.toString(),
    STATUSES.indexOf(newest.status),
    newest.framework,
    newest.frameworkVersion,
    newest.language,
    newest.filepath,
    newest.function,
  ];
  const end = newest?.finishedAt ?? 0;
  const before = (at: number | null) => (at === null ? null : end - at);
  return JSON.stringify([
    checkpointAt,
    months,
    days[0] ?? 0,
    packDays(days),
    before(lastSuccessAt),
    before(lastFailureAt),
    newestFields,
  ]);
}

/** Reads what {@link writeSummary} writes, and {@link Former} rows. */
export function readSummary(text: string): StoredSummary {
  const stored = parsed(text);
  if (stored.length === 6) return readFormer(stored);
  const [checkpointAt, months, firstDay, days, sinceSuccess, sinceFailure, newest] = stored;
  const end = newest?.[0] ?? 0;
  const at = (before: number | null) => (before === null ? null : end - before);
  const execution = newest && executionOf(newest, STATUSES[newest[2]]);
  const [lastSuccessAt, lastFailureAt] = [at(sinceSuccess), at(sinceFailure)];
  return {
    summary: { months, days: unpackDays(firstDay, days), lastSuccessAt, lastFailureAt, newest: execution },
    checkpointAt,
  };
}

function readFormer([checkpointAt, months, days, lastSuccessAt, lastFailureAt, newest]: Former): StoredSummary {
  const execution = newest && executionOf(newest, newest[2]);
  return { summary: { months, days, lastSuccessAt, lastFailureAt, newest: execution }, checkpointAt };
}

function executionOf(
  [finishedAt, executionId, , framework, frameworkVersion, language, filepath, fn]: StoredNewest<unknown>,
  status: Status | undefined,
): SummarisedExecution {
  if (status === undefined) throw new TypeError('a stored summary has a status that does not exist');
  const execution = { finishedAt, executionId: BigInt(executionId), status, framework, frameworkVersion, language };
  return { ...execution, filepath, function: fn };
}

/**
 * From the first day on: how often it passed on a day without failures; how often it passed and failed on one with failures;
 * or, below zero, on how many days nothing happened. Most tests fail on no day, and many do not run every day.
 */
type PackedDays = readonly (number | readonly [passed: number, failed: number])[];

function packDays(days: DayCounts): PackedDays {
  const packed: (number | readonly [number, number])[] = [];
  let without = 0;
  for (let i = 1; i < days.length; i += 2) {
    const passed = days[i] ?? 0;
    const failed = days[i + 1] ?? 0;
    if (passed === 0 && failed === 0) {
      without++;
      continue;
    }
    if (without > 0) packed.push(-without);
    without = 0;
    packed.push(failed === 0 ? passed : [passed, failed]);
  }
  return packed;
}

function unpackDays(firstDay: number, packed: PackedDays): DayCounts {
  if (packed.length === 0) return NO_COUNTS;
  const days = [firstDay];
  for (const day of packed)
    if (typeof day !== 'number') days.push(day[0], day[1]);
    else if (day > 0) days.push(day, 0);
    else for (let i = day; i < 0; i++) days.push(0, 0);
  return days;
}

/** Retained executions, in SQL, of a column with such a text: the sum of its months. */
export const executionsIn = (summary: SQL): SQL => sql`(
  select coalesce(sum(months.value::bigint), 0)::bigint
  from json_array_elements_text(${summary}::json -> 1) with ordinality as months (value, place)
  where months.place % 2 = 0)`;

/** Only the days, which takes a fraction of the time. */
export function readDays(text: string): DayCounts {
  const stored = parsed(text);
  return stored.length === 6 ? stored[2] : unpackDays(stored[2], stored[3]);
}
