/** Evaluations of one repository run one after another, in whatever process, and a later one has a higher version. */
import { sql } from 'drizzle-orm';
import type { Executor } from '../postgres/client.ts';
import { readInstallation } from '../postgres/installation.ts';
import { EVALUATION_LOCK } from '../postgres/locks.ts';
import { evaluationVersion, nextValueOf } from '../postgres/schema.ts';

/** Held to the end of the transaction. */
export async function lockEvaluation(tx: Executor, repositoryId: string): Promise<void> {
  await tx.execute(sql`select pg_advisory_xact_lock(${EVALUATION_LOCK}, hashtext(${repositoryId}))`);
}

/**
 * Drawn under the lock; a fold that lost its lock and comes late has a lower one and cannot win. Counted from when the
 * installation was made, in microseconds: a PostgreSQL that was made anew goes on above all that was drawn before it.
 */
export async function drawVersion(tx: Executor): Promise<number> {
  const { createdAt } = await readInstallation(tx);
  const drawn = await tx.execute<{ version: string }>(sql`select ${nextValueOf(evaluationVersion)} as version`);
  return createdAt * 1_000 + Number(drawn.rows[0]?.version);
}
