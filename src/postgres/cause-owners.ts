/** Owners of causes: those of the tests that they hit. */
import { type SQL, sql } from 'drizzle-orm';
import { z } from 'zod';
import type { Days } from '../domain/window.ts';
import type { Executor } from './client.ts';
import { plainColumn, textColumn } from './columns.ts';
import { NO_OWNER } from './owners.ts';
import { causeDays, causeNodes, testOwners } from './schema.ts';

/** Owners shown of a cause: those of most of its tests. */
export const CAUSE_OWNERS_MAX = 10;

const ownersRow = z.object({ cause_id: z.string(), owners: z.array(z.string()) });

/** The owners of the tests that some causes hit on some days, those of most tests first; by cause, without those that have none. */
export async function readCauseOwners(
  tx: Executor,
  repositoryId: string,
  causeIds: readonly string[],
  { from, to }: Days,
): Promise<Map<string, string[]>> {
  if (causeIds.length === 0) return new Map();
  const { rows } = await tx.execute(sql`
    with owned as (
      select n.cause_id, o.owner, count(distinct d.test_id) as tests
      from ${causeNodes} as n
      join ${causeDays} as d on d.repository_id = n.repository_id and d.node_id = n.node_id and d.day between ${from} and ${to}
      join ${testOwners} as o on o.repository_id = d.repository_id and o.test_id = d.test_id and o.owner <> ${NO_OWNER}
      where n.repository_id = ${repositoryId} and n.cause_id = any(${plainColumn(causeIds)}::uuid[])
      group by n.cause_id, o.owner
    )
    select cause_id, array_agg(owner order by tests desc, owner) as owners
    from (select *, row_number() over (partition by cause_id order by tests desc, owner) as place from owned) as placed
    where place <= ${CAUSE_OWNERS_MAX} group by cause_id`);
  return new Map(rows.map((row) => ownersRow.parse(row)).map((row) => [row.cause_id, row.owners]));
}

/**
 * Whether a cause hit a test of one of these owners on some days.
 *
 * @param owners empty text: tests without an owner
 */
export const hitsTestOf = (
  repositoryId: string,
  causeId: SQL,
  owners: readonly string[],
  { from, to }: Days,
): SQL => sql`
  exists (select from ${causeNodes} as hit join ${causeDays} as d using (repository_id, node_id)
    join ${testOwners} as o on o.repository_id = d.repository_id and o.test_id = d.test_id
    where hit.repository_id = ${repositoryId} and hit.cause_id = ${causeId} and d.day between ${from} and ${to}
      and o.owner = any(${textColumn(owners)}))`;
