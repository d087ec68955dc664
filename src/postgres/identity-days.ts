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

/** In one statement: they take some 3 MB, and decoding them about 20 ms. */
const PAGE_ROWS = 5_000;

const row = z.object({
  test_id: z.string(),
  pipeline_name: z.string(),
  job_name: z.string(),
  health: z.enum(HEALTHS),
  summary: z.string(),
  /** Null for none. */
  changes: z.array(z.tuple([z.number(), z.enum(HEALTHS)])).nullable(),
});
type Row = z.infer<typeof row>;

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
  { selection, since }: { selection: TestSelection; since: number },
  visit: (identities: readonly IdentityDays[]) => void,
  signal?: AbortSignal,
): Promise<void> {
  let last: Row | undefined;
  let ofTest: IdentityDays[] = [];
  let isFull: boolean;
  do {
    const statement = pageStatement(repositoryId, { selection, since, last });
    const { rows } = await abandonable(db, (session) => session.execute(statement), { signal });
    for (const found of rows.map((one) => row.parse(one))) {
      if (last && last.test_id !== found.test_id) {
        visit(ofTest);
        ofTest = [];
      }
      ofTest.push(daysOf(found));
      last = found;
    }
    isFull = rows.length === PAGE_ROWS;
  } while (isFull);
  if (last) visit(ofTest);
}

const daysOf = ({ health, summary, changes }: Row): IdentityDays => ({
  days: readSummary(summary).summary.days,
  health,
  changes: changes?.map(([at, before]) => ({ at, before })) ?? [],
});

/**
 * A page of the identities in the order of the primary key. The changes of each come from a range of their primary key,
 * in the same statement: so they agree with its health.
 */
export const pageStatement = (
  repositoryId: string,
  { selection, since, last }: { selection: TestSelection; since: number; last: Row | undefined },
): SQL => sql`
  select identities.test_id, identities.pipeline_name, identities.job_name, identities.health, identities.summary, (
      select json_agg(json_build_array(changes.at_ms, changes.before)
        order by changes.at_ms, changes.run_id collate "C", changes.run_attempt, changes.execution_id::numeric)
      from ${healthChanges} as changes
      where changes.repository_id = identities.repository_id and changes.test_id = identities.test_id
        and changes.pipeline_name = identities.pipeline_name and changes.job_name = identities.job_name
        and changes.at_ms >= ${since}
    ) as changes
  from ${identities}
  where identities.repository_id = ${repositoryId} and identities.executions > 0
    and ${matching(repositoryId, selection)} and ${last === undefined ? sql`true` : beyond(last)}
  order by identities.test_id, identities.pipeline_name, identities.job_name
  limit ${PAGE_ROWS}`;

const beyond = ({ test_id, pipeline_name, job_name }: Row): SQL =>
  sql`(identities.test_id, identities.pipeline_name, identities.job_name) > (${test_id}::uuid, ${pipeline_name}, ${job_name})`;
