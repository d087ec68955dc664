/** Reads the event log: one statement a page. */
import { z } from 'zod';
import type { ClickHouse } from '../clickhouse/client.ts';
import { defineQuery } from '../clickhouse/query.ts';
import type { EventType } from '../domain/events.ts';
import type { Window } from '../domain/window.ts';
import { type Page, type PageRequest, pageOf } from '../http/pages.ts';

const rowSchema = z.object({
  id: z.int(),
  received_ms: z.int(),
  type: z.string(),
  trigger: z.string(),
  pull_request: z.int().nullable(),
  base_ref: z.string().nullable(),
  metadata: z.string(),
});
export type EventRow = z.infer<typeof rowSchema>;

const parameters = {
  repository_id: 'UUID',
  from_ms: 'Int64',
  to_ms: 'Int64',
  is_first: 'Bool',
  key_ms: 'Int64',
  key_id: 'UInt64',
  pull_requests: 'Array(UInt32)',
  base_refs: 'Array(String)',
  types: 'Array(String)',
  rows: 'UInt32',
} as const;

// The list is newest first, so its next page lies backward in time.
const older = defineQuery('events/log', parameters, rowSchema, 'backward');
const newer = defineQuery('events/log', parameters, rowSchema, 'forward');

/** A place in the log: time of receipt in milliseconds, then id. */
export const keySchema = z.tuple([z.int(), z.int()]);
export const keyOf = (row: EventRow): [number, number] => [row.received_ms, row.id];

export interface EventFilters {
  pullRequests: number[];
  baseRef: string | undefined;
  types: EventType[];
}

/** One page of a repository's events, newest first. */
export async function readEvents(
  clickhouse: ClickHouse,
  repositoryId: string,
  { start, end }: Window,
  filters: EventFilters,
  request: PageRequest,
  signal?: AbortSignal,
): Promise<Page<EventRow>> {
  const isNext = request.direction === 'next';
  const [keyMs, keyId] = request.key === null ? [0, 0] : keySchema.parse(request.key);
  const isFirst = request.key === null;
  const rows = await clickhouse.select(
    isNext ? older : newer,
    {
      repository_id: repositoryId,
      // No further than the place: the key of the table is searched by time.
      from_ms: isFirst || isNext ? start : Math.max(start, keyMs),
      to_ms: isFirst || !isNext ? end : Math.min(end, keyMs + 1),
      is_first: isFirst,
      key_ms: keyMs,
      key_id: keyId,
      pull_requests: filters.pullRequests,
      base_refs: filters.baseRef === undefined ? [] : [filters.baseRef],
      types: filters.types,
      rows: request.perPage + 1,
    },
    signal,
  );
  return pageOf(request, rows);
}
