/**
 * The tests of a repository added up by owner. Joined here and not in PostgreSQL: a planner without statistics of a young
 * repository would compare every row with every other.
 */
import { sql } from 'drizzle-orm';
import { z } from 'zod';
import { type Database, onPostgres } from './client.ts';
import { withSuspects } from './identities.ts';
import { NO_OWNER } from './owners.ts';
import { identities, quarantines, suspects, testOwners } from './schema.ts';

export interface OwnerTotals {
  /** Empty: tests without an owner. */
  owner: string;
  tests: number;
  flaky: number;
  broken: number;
  quarantined: number;
  /** Milliseconds since the epoch; 0 for never. */
  lastFailureAt: number;
}

export interface OwnersOfRepository {
  /** Tests with retained executions. */
  tests: number;
  owned: number;
  /** In no order. */
  owners: OwnerTotals[];
  unowned: OwnerTotals;
}

/** One row with all tests: to decode a row takes as long as to add up ten. */
const testsRow = z.object({ ids: z.array(z.string()), failed_ms: z.array(z.number()) });
const unhealthyRow = z.object({ test_id: z.string(), is_broken: z.boolean() });
const ownerRow = z.object({ owner: z.string(), test_ids: z.array(z.string()) });
const idRow = z.object({ test_id: z.string() });

export async function readOwnerTotals(db: Database, repositoryId: string): Promise<OwnersOfRepository> {
  const [ran, ill, owned, open] = await Promise.all([
    onPostgres(() =>
      db.execute(sql`
        select coalesce(array_agg(test_id), '{}') as ids, coalesce(array_agg(failed_ms), '{}') as failed_ms from (
          select test_id, max(last_failure_ms)::float8 as failed_ms from ${identities}
          where repository_id = ${repositoryId} and executions > 0 and not is_folded group by test_id) as ran`),
    ),
    onPostgres(() =>
      db.execute(sql`
        select identities.test_id, bool_or(${suspects.health} = 'broken') as is_broken from ${withSuspects}
        where identities.repository_id = ${repositoryId} and identities.executions > 0 and not identities.is_folded
          and ${suspects.health} <> 'healthy'
        group by identities.test_id`),
    ),
    onPostgres(() =>
      db.execute(sql`
        select owner, array_agg(test_id) as test_ids from ${testOwners}
        where repository_id = ${repositoryId} and owner <> ${NO_OWNER} group by owner`),
    ),
    onPostgres(() =>
      db.execute(sql`
        select distinct test_id from ${quarantines}
        where repository_id = ${repositoryId} and removed_at is null and (expires_at is null or expires_at > now())`),
    ),
  ]);
  const { ids, failed_ms: failures } = testsRow.parse(ran.rows[0]);
  const tests = new Map(ids.map((testId, i) => [testId, failures[i] ?? 0]));
  const broken = new Map(ill.rows.map((row) => unhealthyRow.parse(row)).map((one) => [one.test_id, one.is_broken]));
  const quarantined = new Set(open.rows.map((row) => idRow.parse(row).test_id));
  const totalsOf = (owner: string, testIds: Iterable<string>): OwnerTotals => {
    const totals: OwnerTotals = { owner, tests: 0, flaky: 0, broken: 0, quarantined: 0, lastFailureAt: 0 };
    for (const testId of testIds) {
      const failedAt = tests.get(testId);
      if (failedAt === undefined) continue;
      totals.tests++;
      if (broken.get(testId) === true) totals.broken++;
      else if (broken.has(testId)) totals.flaky++;
      if (quarantined.has(testId)) totals.quarantined++;
      totals.lastFailureAt = Math.max(totals.lastFailureAt, failedAt);
    }
    return totals;
  };
  const byOwner = owned.rows.map((row) => ownerRow.parse(row));
  const unowned = new Set(tests.keys()).difference(new Set(byOwner.flatMap(({ test_ids }) => test_ids)));
  return {
    tests: tests.size,
    owned: tests.size - unowned.size,
    owners: byOwner.map(({ owner, test_ids }) => totalsOf(owner, test_ids)).filter((totals) => totals.tests > 0),
    unowned: totalsOf(NO_OWNER, unowned),
  };
}
