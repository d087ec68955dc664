/** Evaluations of one repository run one after another, in whatever process, and a later one has a higher version. */
import { sql } from 'drizzle-orm';
import type { Executor } from '../postgres/client.ts';

/** "eval" in ASCII. */
const EVALUATION_LOCK = 0x6576616c;

/** Held to the end of the transaction. */
export async function lockEvaluation(tx: Executor, repositoryId: string): Promise<void> {
  await tx.execute(sql`select pg_advisory_xact_lock(${EVALUATION_LOCK}, hashtext(${repositoryId}))`);
}

/** Drawn under the lock; a fold that lost its lock and comes late has a lower one and cannot win. */
export async function drawVersion(tx: Executor): Promise<number> {
  const drawn = await tx.execute<{ version: string }>(sql`select nextval('ci_insights.evaluation_version') as version`);
  return Number(drawn.rows[0]?.version);
}
