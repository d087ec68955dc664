/** Statements of one connection that are sent before the last is answered (`pipeline` in src/postgres/client.ts). */
import { expect, test } from 'bun:test';
import { sql } from 'drizzle-orm';
import { openTestStores } from '../support/stores.ts';

const { db } = (await openTestStores()).postgres;

test('statements that are sent at the same time in one transaction run one after another, without a warning', async () => {
  const warnings: Error[] = [];
  const note = (warning: Error): void => void warnings.push(warning);
  process.on('warning', note);
  const answers = await db.transaction(async (tx) => {
    await tx.execute(sql`create temporary table turns (turn int) on commit drop`);
    // Drizzle sends a statement when it is waited for.
    const turns = Promise.all(
      Array.from({ length: 20 }, (_, turn) => tx.execute(sql`insert into turns values (${turn})`)),
    );
    const { rows } = await tx.execute(sql`select array_agg(turn order by ctid) as turns from turns`);
    await turns;
    return rows;
  });
  await Bun.sleep(1);
  process.off('warning', note);
  expect(answers).toEqual([{ turns: Array.from({ length: 20 }, (_, turn) => turn) }]);
  expect(warnings).toEqual([]);
});

test('a statement that fails does not keep those after it from being answered', async () => {
  const answers = await db
    .transaction((tx) =>
      Promise.allSettled([tx.execute(sql`select 1 as one`), tx.execute(sql`select 1 / 0`), tx.execute(sql`select 2`)]),
    )
    .catch(() => []);
  expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected']);
  const { rows } = await db.execute(sql`select 3 as three`);
  expect(rows).toEqual([{ three: 3 }]);
});
