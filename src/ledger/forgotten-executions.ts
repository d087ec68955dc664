/** Executions that left with a forgotten test, while their claims stay. */
import { sql } from 'drizzle-orm';
import { z } from 'zod';
import { type Database, type Executor, onPostgres } from '../postgres/client.ts';
import { lineColumn, plainColumn } from '../postgres/columns.ts';
import { forgottenExecutions } from '../postgres/schema.ts';
import { packIds, unpackIds } from './claims.ts';

/** Executions of a test in a month, such as 202611. */
export interface ForgottenOfTest {
  testId: string;
  month: number;
  ids: readonly bigint[];
}

const row = z.object({ test_id: z.string(), month: z.number(), ids: z.instanceof(Uint8Array) });

/** Notes executions that are about to leave, beside those that have left before. Twice is as once. */
export async function noteForgotten(
  tx: Executor,
  repositoryId: string,
  leaving: readonly ForgottenOfTest[],
): Promise<void> {
  if (leaving.length === 0) return;
  const testIds = [...new Set(leaving.map(({ testId }) => testId))];
  const { rows } = await tx.execute(sql`
    select test_id, month, ids from ${forgottenExecutions}
    where repository_id = ${repositoryId} and test_id = any(${plainColumn(testIds)}::uuid[])`);
  const known = new Map(
    rows.map((found) => row.parse(found)).map(({ test_id, month, ids }) => [`${test_id}/${month}`, unpackIds(ids)]),
  );
  const all = leaving.map(({ testId, month, ids }) => [
    ...new Set([...(known.get(`${testId}/${month}`) ?? []), ...ids]),
  ]);
  await tx.execute(sql`
    insert into ${forgottenExecutions} (repository_id, test_id, month, ids)
    select ${repositoryId}, test_id, month, decode(ids, 'hex') from unnest(
      ${plainColumn(leaving.map(({ testId }) => testId))}::uuid[], ${plainColumn(leaving.map(({ month }) => month))}::int[],
      ${lineColumn(all.map((ids) => packIds(ids).toString('hex')))}) as leaving (test_id, month, ids)
    on conflict (repository_id, test_id, month) do update set ids = excluded.ids`);
}

/** The months in which executions of some tests were forgotten. */
export async function monthsForgotten(
  tx: Executor,
  repositoryId: string,
  testIds: readonly string[],
): Promise<number[]> {
  const { rows } = await tx.execute<{ month: number }>(sql`
    select distinct month from ${forgottenExecutions}
    where repository_id = ${repositoryId} and test_id = any(${plainColumn(testIds)}::uuid[]) order by month`);
  return rows.map(({ month }) => month);
}

const ROWS_AT_ONCE = 1_000;

/** All of them in some months, without those of some repositories. */
export async function* forgottenIn(
  db: Database,
  { from, to, leaving }: { from: number; to: number; leaving: readonly string[] },
): AsyncGenerator<{ month: number; ids: readonly bigint[] }> {
  const NIL = '00000000-0000-0000-0000-000000000000';
  for (let after = [NIL, NIL, '0']; ; ) {
    const { rows } = await onPostgres(() =>
      db.execute<{ repository_id: string; test_id: string; month: number; ids: Uint8Array }>(sql`
        select repository_id, test_id, month, ids from ${forgottenExecutions}
        where (repository_id, test_id, month) > (${after[0]}::uuid, ${after[1]}::uuid, ${after[2]}::int)
          and month between ${from} and ${to} and repository_id <> all(${sql.param(leaving)}::uuid[])
        order by repository_id, test_id, month limit ${ROWS_AT_ONCE}`),
    );
    for (const { month, ids } of rows) yield { month, ids: unpackIds(ids) };
    const last = rows.at(-1);
    if (!last || rows.length < ROWS_AT_ONCE) return;
    after = [last.repository_id, last.test_id, String(last.month)];
  }
}
