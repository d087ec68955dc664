/** Counts the tests of every repository, once, after versions that did not keep the totals. Cut off, it begins again. */
import { eq, sql } from 'drizzle-orm';
import { type Database, onPostgres } from '../postgres/client.ts';
import { REBUILD_LOCK } from '../postgres/locks.ts';
import { upgrades } from '../postgres/schema.ts';
import { type RecountDeps, recountRepositories } from './recount.ts';

const NAME = 'totals of repositories';

/** Returns at once if it is done. */
export async function upgradeTotals(deps: RecountDeps): Promise<void> {
  const { db } = deps.postgres;
  if (await isFinished(db)) return;
  await onPostgres(() =>
    db.transaction(async (tx) => {
      await tx.execute(sql`select pg_advisory_xact_lock(${REBUILD_LOCK})`);
      if (await isFinished(tx)) return;
      await recountRepositories(deps);
      await tx.insert(upgrades).values({ name: NAME, finishedAt: sql`now()` });
    }),
  );
}

async function isFinished(db: Pick<Database, 'select'>): Promise<boolean> {
  const rows = await onPostgres(() => db.select().from(upgrades).where(eq(upgrades.name, NAME)));
  return rows.length > 0;
}
