/** Reads the event log: one statement per page. */
import { z } from 'zod';
import type { ClickHouse } from '../clickhouse/client.ts';
import { defineQuery } from '../clickhouse/query.ts';
import type { EventType } from '../domain/events.ts';
import type { Window } from '../domain/window.ts';
import type { PagedList, PageRequest } from '../http/pages.ts';
import type { Repository } from '../postgres/repositories.ts';

const rowSchema = z.object({
  id: z.int(),
  received_ms: z.int(),
  type: z.string(),
  trigger: z.string(),
  pull_request: z.int().nullable(),
  base_ref: z.string().nullable(),
  metadata: z.string(),
});
interface EventRow extends z.infer<typeof rowSchema> {
  /** Name of the repository. */
  repository: string;
}

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

/** Time of receipt in milliseconds, then id. */
type EventKey = [receivedMs: number, id: number];

export const eventLog: PagedList<EventRow, EventKey> = {
  name: 'events',
  keySchema: z.tuple([z.int(), z.int()]),
  keyOf: ({ received_ms, id }) => [received_ms, id],
};

export interface EventFilters {
  pullRequests: number[];
  baseRef: string | undefined;
  types: EventType[];
}

/** A repository's events beyond a key, nearest first: up to one more than a page. */
export async function selectEvents(
  clickhouse: ClickHouse,
  repository: Pick<Repository, 'id' | 'name'>,
  filters: EventFilters,
  { direction, key, perPage, window: { start, end } }: PageRequest<EventKey, Window>,
  signal?: AbortSignal,
): Promise<EventRow[]> {
  const isNext = direction === 'next';
  const isFirst = key === null;
  const [keyMs, keyId] = key ?? [0, 0];
  const rows = await clickhouse.select(
    isNext ? older : newer,
    {
      repository_id: repository.id,
      // No further than the key: the table is searched by time.
      from_ms: isFirst || isNext ? start : Math.max(start, keyMs),
      to_ms: isFirst || !isNext ? end : Math.min(end, keyMs + 1),
      is_first: isFirst,
      key_ms: keyMs,
      key_id: keyId,
      pull_requests: filters.pullRequests,
      base_refs: filters.baseRef === undefined ? [] : [filters.baseRef],
      types: filters.types,
      rows: perPage + 1,
    },
    signal,
  );
  return rows.map((row) => ({ ...row, repository: repository.name }));
}
