/**
 * Fills, once, the columns by which lists of tests are sorted and filtered, for tests that have not run since they exist.
 * They follow from what is stored beside them. Cut off, it begins again.
 */
import { eq, sql } from 'drizzle-orm';
import { z } from 'zod';
import { lockEvaluation } from '../evaluation/lock.ts';
import type { Logger } from '../observability/log.ts';
import { type Database, onPostgres } from '../postgres/client.ts';
import { identities, upgrades } from '../postgres/schema.ts';
import { writeIdentities } from '../postgres/test-state-writes.ts';
import { readIdentities } from '../postgres/test-states.ts';

const NAME = 'metrics of tests';
const TESTS_AT_ONCE = 2_000;
const FIRST = '00000000-0000-0000-0000-000000000000';

const ids = z.array(z.object({ test_id: z.string() }));

export interface UpgradeMetricsDeps {
  postgres: { db: Database };
  log: Logger;
}

/** Returns at once if it is done. */
export async function upgradeTestMetrics({ postgres: { db }, log }: UpgradeMetricsDeps): Promise<void> {
  const done = await onPostgres(() => db.select().from(upgrades).where(eq(upgrades.name, NAME)));
  if (done.length > 0) return;
  log.info('filling the metrics of tests');
  await onPostgres(async () => {
    const repositories = await db.selectDistinct({ id: identities.repositoryId }).from(identities);
    for (const { id } of repositories)
      for (let after: string | undefined = FIRST; after !== undefined; ) after = await fill(db, id, after);
    await db.insert(upgrades).values({ name: NAME, finishedAt: sql`now()` }).onConflictDoNothing();
  });
}

/** Returns the last test that was filled; undefined when there are no more. */
function fill(db: Database, repositoryId: string, after: string): Promise<string | undefined> {
  return db.transaction(async (tx) => {
    await lockEvaluation(tx, repositoryId);
    const { rows } = await tx.execute(sql`
      select distinct test_id from ${identities} where repository_id = ${repositoryId} and test_id > ${after}
      order by test_id limit ${TESTS_AT_ONCE}`);
    const testIds = ids.parse(rows).map(({ test_id }) => test_id);
    // The names of known identities are not written.
    await writeIdentities(tx, repositoryId, await readIdentities(tx, repositoryId, testIds), () => '');
    return testIds.at(-1);
  });
}
