/** What people agreed on causes: whose a cause is, and where its repair is tracked. */
import { and, eq, inArray, sql } from 'drizzle-orm';
import { z } from 'zod';
import { changeOf } from '../domain/audit.ts';
import { recordAudit } from './audit.ts';
import { causeOf } from './cause-details.ts';
import { type Database, type Executor, onPostgres } from './client.ts';
import { plainColumn, textColumn } from './columns.ts';
import type { NamedActor } from './quarantine-records.ts';
import { lockRoom } from './quarantine-room.ts';
import { causeNodes, causeTerms, quarantinedCauses } from './schema.ts';

export interface CauseTerms {
  owner: string | null;
  ticketUrl: string | null;
}

export const NO_TERMS: CauseTerms = { owner: null, ticketUrl: null };

/**
 * The terms of a cause are those of its nodes: its own first, then of causes that were merged into it those that were changed last. An
 * owner that its own terms lack comes from the others, and so does a ticket.
 */
const firstOf = (column: typeof causeTerms.owner | typeof causeTerms.ticketUrl) => sql`
  (array_agg(${column} order by ${causeTerms.causeId} = n.cause_id desc, ${causeTerms.changedAt} desc, ${causeTerms.causeId})
    filter (where ${column} is not null))[1]`;

const idRow = z.object({ cause_id: z.string() });
const termsRow = z.object({ cause_id: z.string(), owner: z.string().nullable(), ticket_url: z.string().nullable() });

/** The terms of some causes, by id; of those that have some. */
export async function readCauseTerms(
  tx: Executor,
  repositoryId: string,
  causeIds: readonly string[],
): Promise<Map<string, CauseTerms>> {
  if (causeIds.length === 0) return new Map();
  const { rows } = await tx.execute(sql`
    select n.cause_id, ${firstOf(causeTerms.owner)} as owner, ${firstOf(causeTerms.ticketUrl)} as ticket_url
    from ${causeTerms} join ${causeNodes} as n on n.repository_id = ${causeTerms.repositoryId} and n.node_id = ${causeTerms.causeId}
    where ${causeTerms.repositoryId} = ${repositoryId} and n.cause_id = any(${plainColumn(causeIds)}::uuid[])
    group by n.cause_id`);
  return new Map(
    rows
      .map((row) => termsRow.parse(row))
      .map((row) => [row.cause_id, { owner: row.owner, ticketUrl: row.ticket_url }]),
  );
}

/** The causes whose own owner is one of these. */
export async function causesAssignedTo(
  tx: Executor,
  repositoryId: string,
  owners: readonly string[],
): Promise<string[]> {
  const { rows } = await tx.execute(sql`
    select n.cause_id from ${causeTerms}
    join ${causeNodes} as n on n.repository_id = ${causeTerms.repositoryId} and n.node_id = ${causeTerms.causeId}
    where ${causeTerms.repositoryId} = ${repositoryId}
    group by n.cause_id having ${firstOf(causeTerms.owner)} = any(${textColumn(owners)})`);
  return rows.map((row) => idRow.parse(row).cause_id);
}

/** The terms as records show them. */
const shownOf = ({ owner, ticketUrl }: CauseTerms) => ({ owner, ticket_url: ticketUrl });

/**
 * Changes terms of a cause. From then on they are its own, also what causes that were merged into it had.
 *
 * @param id that of the cause, or of one that was merged into it
 * @returns the cause and its terms as they are now; undefined if there is no such cause
 */
export function changeCauseTerms(
  db: Database,
  { id: repositoryId, owner, name }: { id: string; owner: string; name: string },
  id: string,
  changes: Partial<CauseTerms>,
  { by, now }: { by: NamedActor; now: number },
): Promise<(CauseTerms & { causeId: string }) | undefined> {
  return onPostgres(() =>
    db.transaction(async (tx) => {
      await lockRoom(tx, repositoryId);
      const causeId = await causeOf(tx, repositoryId, id);
      if (causeId === undefined) return undefined;
      const before = (await readCauseTerms(tx, repositoryId, [causeId])).get(causeId) ?? NO_TERMS;
      const after = { ...before, ...changes };
      const change = changeOf(shownOf(before), shownOf(after));
      if (!change) return { causeId, ...before };
      await tx.delete(causeTerms).where(
        and(
          eq(causeTerms.repositoryId, repositoryId),
          inArray(
            causeTerms.causeId,
            tx
              .select({ id: causeNodes.nodeId })
              .from(causeNodes)
              .where(and(eq(causeNodes.repositoryId, repositoryId), eq(causeNodes.causeId, causeId))),
          ),
        ),
      );
      if (after.owner !== null || after.ticketUrl !== null)
        await tx.insert(causeTerms).values({ repositoryId, causeId, ...after, changedAt: new Date(now) });
      if (by.audit) {
        const deed = { action: 'cause.update', objectId: causeId, owner, repository: name, ...change } as const;
        await recordAudit(tx, by.audit, { ...deed, objectName: await nameOfCause(tx, repositoryId, causeId) }, now);
      }
      return { causeId, ...after };
    }),
  );
}

/** The message of a cause, for people. */
export async function nameOfCause(tx: Executor, repositoryId: string, causeId: string): Promise<string | null> {
  const [node] = await tx
    .select({ type: causeNodes.exceptionType, message: causeNodes.message })
    .from(causeNodes)
    .where(and(eq(causeNodes.repositoryId, repositoryId), eq(causeNodes.nodeId, causeId)));
  return node ? node.message || node.type : null;
}

/** Forgets what was agreed on nodes that are no longer stored: nothing leads to them any more. */
export async function forgetCauseTerms(tx: Executor, repositoryId: string, nodeIds: readonly string[]): Promise<void> {
  if (nodeIds.length === 0) return;
  for (const table of [causeTerms, quarantinedCauses])
    await tx
      .delete(table)
      .where(and(eq(table.repositoryId, repositoryId), sql`${table.causeId} = any(${plainColumn(nodeIds)}::uuid[])`));
}
