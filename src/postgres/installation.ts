/** Identifies this PostgreSQL: the numbers of its blocks and evaluations mean nothing in another one. */
import { sql } from 'drizzle-orm';
import { type Executor, onPostgres } from './client.ts';
import { installation } from './schema.ts';

export interface Installation {
  /** 32 hexadecimal digits, drawn at random once. */
  id: string;
  /** Milliseconds since the epoch. */
  createdAt: number;
}

/** Created by the first call, and the same for every process from then on. */
export async function readInstallation(db: Executor): Promise<Installation> {
  const [row] = await onPostgres(async () => {
    await db.insert(installation).values({ isOnly: true }).onConflictDoNothing();
    return db.select().from(installation);
  });
  if (!row) throw new Error('the installation has no row');
  return { id: row.id.replaceAll('-', ''), createdAt: row.createdAt.getTime() };
}

/**
 * After a restore, numbers that were given since mean something else: blocks are never taken for repeats of another
 * installation's, and events get ids above all that were given.
 */
export async function renumber(db: Executor): Promise<void> {
  await onPostgres(async () => {
    await db.update(installation).set({ id: sql`gen_random_uuid()` });
    await db.execute(sql`
      select setval('ci_insights.event_ids', greatest(last_value, (extract(epoch from clock_timestamp()) * 1000000)::bigint))
      from ci_insights.event_ids`);
  });
}
