/**
 * The summary of an identity as it is stored: one JSON text without names. Every run rewrites it for each of its tests,
 * and one text costs a tenth of what `jsonb` or a column for each part does.
 */
import { type SQL, sql } from 'drizzle-orm';
import { z } from 'zod';
import type { DayCounts, MonthCounts } from '../domain/flat-counts.ts';
import { STATUSES, type Status } from '../domain/status.ts';
import type { IdentitySummary } from '../domain/test-state.ts';

type StoredNewest = [number, string, Status, string, string, string, string, string];
type Stored = [
  /** When its newer checkpoint is. */
  checkpointAt: number,
  months: MonthCounts,
  days: DayCounts,
  lastSuccessAt: number | null,
  lastFailureAt: number | null,
  newest: StoredNewest | null,
];

/**
 * Only this file writes them, so the parts are checked and not every number: every run reads one for each of its tests,
 * and a schema for each number would take longer than parsing the JSON.
 */
const isStored = (value: unknown): value is Stored =>
  Array.isArray(value) &&
  typeof value[0] === 'number' &&
  Array.isArray(value[1]) &&
  Array.isArray(value[2]) &&
  isMoment(value[3]) &&
  isMoment(value[4]) &&
  isNewest(value[5]);

function parsed(text: string): Stored {
  const value: unknown = JSON.parse(text);
  if (!isStored(value)) throw new TypeError('a stored summary has other parts than it is written with');
  return value;
}

const isMoment = (value: unknown): boolean => value === null || typeof value === 'number';
const isNewest = (value: unknown): boolean =>
  value === null ||
  (Array.isArray(value) &&
    value.length === 8 &&
    typeof value[0] === 'number' &&
    areTexts(value, 1) &&
    STATUSES.includes(value[2]));
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
    newest.status,
    newest.framework,
    newest.frameworkVersion,
    newest.language,
    newest.filepath,
    newest.function,
  ];
  return JSON.stringify([checkpointAt, months, days, lastSuccessAt, lastFailureAt, newestFields]);
}

/** Reads what {@link writeSummary} writes. */
export function readSummary(text: string): StoredSummary {
  const [checkpointAt, months, days, lastSuccessAt, lastFailureAt, newest] = parsed(text);
  const summary = { months, days, lastSuccessAt, lastFailureAt };
  if (newest === null) return { summary: { ...summary, newest: null }, checkpointAt };
  const [finishedAt, executionId, status, framework, frameworkVersion, language, filepath, fn] = newest;
  const execution = { finishedAt, executionId: BigInt(executionId), status, framework, frameworkVersion, language };
  return { summary: { ...summary, newest: { ...execution, filepath, function: fn } }, checkpointAt };
}

/** Retained executions, in SQL, of a column with such a text: the sum of its months. */
export const executionsIn = (summary: SQL): SQL => sql`(
  select coalesce(sum(months.value::bigint), 0)::bigint
  from json_array_elements_text(${summary}::json -> 1) with ordinality as months (value, place)
  where months.place % 2 = 0)`;

/** Only the days, which takes a fraction of the time. */
export function readDays(text: string): DayCounts {
  const [, , days] = daysOnly.parse(JSON.parse(text));
  return days;
}

const daysOnly = z.custom<Stored>((value) => Array.isArray(value) && Array.isArray(value[2]));
