/** Which PostgreSQL this is: its number of a block, or of an evaluation, means nothing to another. */
import { type Executor, onPostgres } from './client.ts';
import { installation } from './schema.ts';

export interface Installation {
  /** Random, drawn once; 32 hexadecimal digits. */
  id: string;
  /** Milliseconds since the epoch. */
  createdAt: number;
}

/** Made at the first call, the same from then on, for every process. */
export async function readInstallation(db: Executor): Promise<Installation> {
  const [row] = await onPostgres(async () => {
    await db.insert(installation).values({ isOnly: true }).onConflictDoNothing();
    return db.select().from(installation);
  });
  if (!row) throw new Error('the installation has no row');
  return { id: row.id.replaceAll('-', ''), createdAt: row.createdAt.getTime() };
}
