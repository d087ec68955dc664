/** Checks PostgreSQL without changing anything. */

import { readFileSync } from 'node:fs';
import pg from 'pg';
import { z } from 'zod';
import { systemClock } from '../../clock.ts';
import { type Finding, inTime, ok, problem, reasonOf, TIMEOUT_MS, tlsRemedy, warning } from './finding.ts';
import { clockFinding, migrationsFinding, versionFinding } from './rules.ts';

const JOURNAL = new URL('../../../sql/postgres/meta/_journal.json', import.meta.url);
const journalSchema = z.object({ entries: z.array(z.unknown()) });
const facts = z.object({
  version: z.string(),
  now: z.coerce.number(),
  is_replica: z.boolean(),
  may_create: z.boolean(),
  may_use: z.boolean().nullable(),
  has_migrations: z.boolean(),
  schemas: z.array(z.string()),
});

/** The schemas that migrations create. A user who owns them needs no CREATE on the database. */
const SCHEMAS = ['ci_insights', 'ci_insights_migrations'];

export interface PostgresCheck {
  findings: Finding[];
  /** Whether further checks can use it: it responds and has its tables. */
  isUsable: boolean;
}

export async function checkPostgres(url: string): Promise<PostgresCheck> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: TIMEOUT_MS,
    query_timeout: TIMEOUT_MS,
  });
  client.on('error', () => {});
  try {
    await inTime(() => client.connect());
    return await findingsOf(client);
  } catch (error) {
    const remedy =
      tlsRemedy(error) ??
      'Check that it is running, and that address, user, password and database in DATABASE_URL are correct.';
    return { findings: [problem('PostgreSQL', `It is not usable: ${reasonOf(error)}.`, remedy)], isUsable: false };
  } finally {
    await client.end().catch(() => {});
  }
}

async function findingsOf(client: pg.Client): Promise<PostgresCheck> {
  const askedAt = systemClock.now();
  const { rows } = await client.query(
    `select current_setting('server_version') as version,
            extract(epoch from clock_timestamp()) * 1000 as now,
            pg_is_in_recovery() as is_replica,
            has_database_privilege(current_database(), 'CREATE') as may_create,
            (select bool_and(has_schema_privilege(oid, 'CREATE') and has_schema_privilege(oid, 'USAGE'))
               from pg_namespace where nspname = any($1)) as may_use,
            to_regclass('ci_insights_migrations.__drizzle_migrations') is not null as has_migrations,
            coalesce((select array_agg(nspname::text) from pg_namespace where nspname = any($1)), '{}') as schemas`,
    [SCHEMAS],
  );
  const middle = (askedAt + systemClock.now()) / 2;
  const fact = facts.parse(rows[0]);
  const findings = [
    ok('PostgreSQL', 'It responds.'),
    versionFinding('PostgreSQL', fact.version),
    clockFinding('PostgreSQL', fact.now - middle),
  ];
  if (fact.is_replica)
    findings.push(problem('PostgreSQL role', 'It is a read-only replica.', 'Point DATABASE_URL at the primary.'));
  const done = fact.has_migrations ? await count(client, 'ci_insights_migrations.__drizzle_migrations') : 0;
  const { entries } = journalSchema.parse(JSON.parse(readFileSync(JOURNAL, 'utf8')));
  findings.push(permissionFinding(fact, done >= entries.length));
  findings.push(migrationsFinding('PostgreSQL', done, entries.length));
  if (done < entries.length) return { findings, isUsable: false };
  if ((await count(client, 'ci_insights.application_keys where revoked_at is null')) === 0)
    findings.push(
      warning('Application keys', 'There are none, so no client can upload or read.', 'Run `ci-insights keys create`.'),
    );
  return { findings, isUsable: true };
}

function permissionFinding(fact: z.infer<typeof facts>, isMigrated: boolean): Finding {
  const check = 'PostgreSQL permissions';
  const isComplete = fact.schemas.length === SCHEMAS.length;
  if (fact.may_create || (isComplete && fact.may_use === true)) return ok(check, 'Migrations can run.');
  if (isMigrated) return ok(check, 'Its role may not change the schema; another runs the migrations.');
  return problem(
    check,
    'The user may not create what the migrations need.',
    'Run `grant create on database <database> to <user>`, and let it own the schemas ci_insights, ci_insights_migrations and bullmq.',
  );
}

/** @param from A constant of this file. */
async function count(client: pg.Client, from: string): Promise<number> {
  const { rows } = await client.query(`select count(*)::int as count from ${from}`);
  return z.object({ count: z.number() }).parse(rows[0]).count;
}
