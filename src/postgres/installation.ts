/** Identifies this PostgreSQL: the numbers of its blocks and evaluations mean nothing in another one. */
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
