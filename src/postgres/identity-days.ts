/** Results of the identities of a repository day by day, for its statistics. */
import { type SQL, sql } from 'drizzle-orm';
import { z } from 'zod';
import type { IdentityDays } from '../domain/repository-stats.ts';
import { HEALTHS } from '../domain/status.ts';
import { ALL_LEGS } from '../domain/test-identity.ts';
import { abandonable } from './abandonable.ts';
import type { Database, Executor } from './client.ts';
import { daysOf as daysOfIdentity, withSuspects, withSuspectsByKey } from './identities.ts';
import { healthChanges } from './schema.ts';
import { matching, type TestSelection } from './test-selection.ts';

/** Fetched at a time: they take some 2 MB, and decoding them about 20 ms. */
const PAGE_ROWS = 5_000;

const row = z.object({
  test_id: z.string(),
  health: z.enum(HEALTHS),
  own_failure_ms: z.number(),
  day: z.number(),
  day_passed: z.number(),
  day_failed: z.number(),
  days: z.array(z.number()),
  /** Null for none. */
  changes: z.array(z.tuple([z.number(), z.enum(HEALTHS)])).nullable(),
});

interface AskedDays {
  /** The identities that are meant, as far as they have retained executions; null: every one. */
  selection: TestSelection | null;
  /** The first moment whose changes of health are needed; milliseconds since the epoch. */
  since: number;
}

/**
 * Visits the tests of a selection, each with its selected identities and the changes of their health.
 *
 * @param signal aborted when the answer is no longer waited for: the read then ends
 */
export const readIdentityDays = (
  db: Database,
  repositoryId: string,
  asked: AskedDays,
  visit: (identities: readonly IdentityDays[]) => void,
  signal?: AbortSignal,
): Promise<void> => abandonable(db, (session) => visitIdentityDays(session, repositoryId, asked, visit), { signal });

/** The same in a transaction, with a cursor: all of it agrees, and is not in memory at once. */
export async function visitIdentityDays(
  tx: Executor,
  repositoryId: string,
  asked: AskedDays,
  visit: (identities: readonly IdentityDays[]) => void,
): Promise<void> {
  let testId: string | undefined;
  let ofTest: IdentityDays[] = [];
  await tx.execute(sql`declare days no scroll cursor for ${daysStatement(repositoryId, asked)}`);
  let isMore = true;
  while (isMore) {
    const { rows } = await tx.execute(sql.raw(`fetch ${PAGE_ROWS} from days`));
    for (const found of rows.map((one) => row.parse(one))) {
      if (ofTest.length > 0 && found.test_id !== testId) {
        visit(ofTest);
        ofTest = [];
      }
      testId = found.test_id;
      ofTest.push(daysOf(found));
    }
    isMore = rows.length === PAGE_ROWS;
  }
  await tx.execute(sql`close days`);
  if (ofTest.length > 0) visit(ofTest);
}

const daysOf = ({ health, own_failure_ms: ownFailureAt, changes, ...counted }: z.infer<typeof row>): IdentityDays => ({
  days: daysOfIdentity(counted),
  health,
  ownFailureAt,
  changes: changes?.map(([at, before]) => ({ at, before })) ?? [],
});

/** In order of time, as evaluations follow each other. */
const changeOrder = (table: string): SQL =>
  sql.raw(`${table}.at_ms, ${table}.run_id collate "C", ${table}.run_attempt, ${table}.execution_id::numeric`);

/**
 * The identities of one test after the other. The changes of each come from a range of their primary key, in the same
 * statement: so they agree with its health.
 */
export const daysStatement = (repositoryId: string, { selection, since }: AskedDays): SQL => sql`
  select identities.test_id, coalesce(suspects.health, 'healthy') as health,
    coalesce(suspects.own_failure_ms, 0)::float8 as own_failure_ms, identities.day, identities.day_passed,
    identities.day_failed, identities.days, case when suspects.health is null then null else (
      select json_agg(json_build_array(changes.at_ms, changes.before) order by ${changeOrder('changes')})
      from ${healthChanges} as changes
      where changes.repository_id = identities.repository_id and changes.test_id = identities.test_id
        and changes.pipeline_name = identities.pipeline_name and changes.job_name = identities.job_name
        and changes.axes = identities.axes
        and changes.at_ms >= ${since}
    ) end as changes
  from ${selection ? withSuspects : withSuspectsByKey}
  where identities.repository_id = ${repositoryId} and identities.axes <> ${ALL_LEGS}
    and ${selection ? sql`identities.executions > 0 and ${matching(repositoryId, selection)}` : sql`true`}
  order by identities.test_id`;
