/** What the identities of a repository showed day by day: for its statistics. */
import { type SQL, sql } from 'drizzle-orm';
import { z } from 'zod';
import type { IdentityDays } from '../domain/repository-stats.ts';
import { HEALTHS } from '../domain/status.ts';
import { abandonable } from './abandonable.ts';
import type { Database } from './client.ts';
import { readSummary } from './identity-summary.ts';
import { healthChanges, identities } from './schema.ts';
import { matching, type TestSelection } from './test-search.ts';

/** Fetched at a time: they take some 2 MB, and decoding them about 20 ms. */
const PAGE_ROWS = 5_000;

const row = z.object({
  test_id: z.string(),
  health: z.enum(HEALTHS),
  summary: z.string(),
  /** Null for none. */
  changes: z.array(z.tuple([z.number(), z.enum(HEALTHS)])).nullable(),
});

/**
 * Visits the tests that have retained executions in a selection, each with its selected identities and the changes of
 * their health since a moment.
 *
 * @param since in milliseconds since the epoch
 * @param signal aborted when the answer is no longer waited for: the read then ends
 */
export async function readIdentityDays(
  db: Database,
  repositoryId: string,
  asked: { selection: TestSelection; since: number },
  visit: (identities: readonly IdentityDays[]) => void,
  signal?: AbortSignal,
): Promise<void> {
  let testId: string | undefined;
  let ofTest: IdentityDays[] = [];
  await abandonable(
    db,
    async (session) => {
      await session.execute(sql`declare days no scroll cursor for ${daysStatement(repositoryId, asked)}`);
      let isMore = true;
      while (isMore) {
        const { rows } = await session.execute(sql.raw(`fetch ${PAGE_ROWS} from days`));
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
    },
    { signal },
  );
  if (ofTest.length > 0) visit(ofTest);
}

const daysOf = ({ health, summary, changes }: z.infer<typeof row>): IdentityDays => ({
  days: readSummary(summary).summary.days,
  health,
  changes: changes?.map(([at, before]) => ({ at, before })) ?? [],
});

/**
 * The identities of one test after the other. The changes of each come from a range of their primary key, in the same
 * statement: so they agree with its health.
 */
export const daysStatement = (
  repositoryId: string,
  { selection, since }: { selection: TestSelection; since: number },
): SQL => sql`
  select identities.test_id, identities.health, identities.summary, (
      select json_agg(json_build_array(changes.at_ms, changes.before)
        order by changes.at_ms, changes.run_id collate "C", changes.run_attempt, changes.execution_id::numeric)
      from ${healthChanges} as changes
      where changes.repository_id = identities.repository_id and changes.test_id = identities.test_id
        and changes.pipeline_name = identities.pipeline_name and changes.job_name = identities.job_name
        and changes.at_ms >= ${since}
    ) as changes
  from ${identities}
  where identities.repository_id = ${repositoryId} and identities.executions > 0
    and ${matching(repositoryId, selection)}
  order by identities.test_id`;
