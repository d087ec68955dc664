/**
 * Evaluations of a repository run one at a time, in whatever process, and each draws a higher version than the last.
 */
import { sql } from 'drizzle-orm';
import type { Database, Executor } from '../postgres/client.ts';
import { readInstallation } from '../postgres/installation.ts';
import { EVALUATION_LOCK } from '../postgres/locks.ts';
import { evaluationVersion, nextValueOf } from '../postgres/schema.ts';

/** Held until the end of the transaction. In order of id: all processes lock alike. */
export async function lockEvaluation(tx: Executor, ...repositoryIds: readonly string[]): Promise<void> {
  const inOrder = sql.param([...repositoryIds].sort());
  await tx.execute(
    sql`select pg_advisory_xact_lock(${EVALUATION_LOCK}, hashtext(id)) from unnest(${inOrder}::text[]) as id`,
  );
  // A session keeps the snapshot of its last statement with parameters until the next one. While it waits under the
  // lock, PostgreSQL could clean up nothing that others delete, and every fetch of a job would step over it.
  await tx.execute(sql`select 1`);
}

/**
 * Drawn under the lock, so an evaluation that lost its lock and finishes late has a lower version and cannot win, but in
 * a separate transaction: if PostgreSQL crashed before that of the evaluation commits, it would draw the same version
 * again, and ClickHouse would take what is inserted under it for a repeat. Versions count from the creation of the
 * installation, in microseconds: a PostgreSQL that was set up again continues above every version drawn before.
 */
export async function drawVersion(db: Database): Promise<number> {
  const { createdAt } = await readInstallation(db);
  const drawn = await db.execute<{ version: string }>(sql`select ${nextValueOf(evaluationVersion)} as version`);
  return createdAt * 1_000 + Number(drawn.rows[0]?.version);
}
