/** How many quarantines people and clients may have open in a repository, and how much they may say. */
import { and, count, eq, sql } from 'drizzle-orm';
import { branchCostOf } from '../domain/branch-pattern.ts';
import { QUARANTINES_BYTES_MAX, QUARANTINES_COST_MAX, QUARANTINES_MAX } from '../domain/limits.ts';
import type { Executor } from './client.ts';
import { QUARANTINES_LOCK } from './locks.ts';
import { isOpen } from './quarantine-records.ts';
import { quarantines } from './schema.ts';

type QuarantineLimit = 'QUARANTINES_MAX' | 'QUARANTINES_BYTES_MAX' | 'QUARANTINES_COST_MAX';

/** A quarantine that would be too much beside the others of its repository: nothing was changed. */
export class NoRoomForQuarantine extends Error {
  override name = 'NoRoomForQuarantine';
  constructor(readonly limit: QuarantineLimit) {
    super(`the quarantines of the repository exceed ${limit}`);
  }
}

/** An identifier of a failure group, in an answer. */
const FAILURE_ID_BYTES = 40;
const { testName, reason, branch, pipelineName, jobName, axes, owner, ticketUrl, failureIds } = quarantines;
const bytesOf = sql`${sql.join(
  [testName, reason, branch, pipelineName, jobName, axes, owner, ticketUrl].map(
    (text) => sql`coalesce(octet_length(${text}), 0)`,
  ),
  sql` + `,
)} + coalesce(cardinality(${failureIds}), 0) * ${FAILURE_ID_BYTES}`;

/** From here on to its end, the transaction is the only one that makes or changes quarantines of the repository by hand. */
export const lockRoom = (tx: Executor, repositoryId: string): Promise<unknown> =>
  tx.execute(sql`select pg_advisory_xact_lock(${QUARANTINES_LOCK}, hashtext(${repositoryId}))`);

/** Throws {@link NoRoomForQuarantine} if what the transaction has written is too much. */
export async function requireRoom(tx: Executor, repositoryId: string): Promise<void> {
  const isCounted = and(eq(quarantines.repositoryId, repositoryId), eq(quarantines.source, 'manual'), isOpen);
  const [found] = await tx
    .select({ open: count(), bytes: sql<number>`coalesce(sum(${bytesOf}), 0)::float8` })
    .from(quarantines)
    .where(isCounted);
  if (!found) return;
  if (found.open > QUARANTINES_MAX) throw new NoRoomForQuarantine('QUARANTINES_MAX');
  if (found.bytes > QUARANTINES_BYTES_MAX) throw new NoRoomForQuarantine('QUARANTINES_BYTES_MAX');
  const patterns = await tx
    .selectDistinct({ branch })
    .from(quarantines)
    .where(and(isCounted, sql`${branch} ~ '[*?]'`));
  const cost = branchCostOf(patterns.flatMap((row) => row.branch ?? []));
  if (cost > QUARANTINES_COST_MAX) throw new NoRoomForQuarantine('QUARANTINES_COST_MAX');
}
