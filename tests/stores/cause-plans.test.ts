/** Lists of causes lead over their indexes, whatever is sought: a repository may have twenty thousand messages. */
import { beforeAll, expect, test } from 'bun:test';
import { randomUUID } from 'node:crypto';
import { sql } from 'drizzle-orm';
import { CauseRankings } from '../../src/insights/cause-rankings.ts';
import { type CauseKey, type CauseSelection, causeIdsStatement, findCauseIds } from '../../src/postgres/cause-lists.ts';
import { readCauseDays, readCauseGroups, readCauseNodes, replaceCauses } from '../../src/postgres/causes.ts';
import { randomFrom } from '../support/random.ts';
import { openTestStores, type TestStores } from '../support/stores.ts';

const NODES = 6_000;
const FIRST_DAY = 20_700;
const DAY_MS = 86_400_000;
const repositoryId = randomUUID();
let stores: TestStores;

beforeAll(async () => {
  stores = await openTestStores();
  const random = randomFrom(1);
  const word = () =>
    `word${'abcdefghijklmnopqrstuvwxyz'[Math.floor(random() * 26)]}${'bcdfgh'[Math.floor(random() * 6)]}`;
  const nodes = Array.from({ length: NODES }, () => {
    const id = randomUUID();
    const at = Math.floor((FIRST_DAY + random() * 80) * DAY_MS);
    return {
      ...{ id, causeId: id, signatureId: randomUUID(), isGeneric: false, failures: 2 },
      ...{ exceptionType: 'Error', message: `${word()} ${word()} ${word()} ${word()}` },
      ...{ firstAt: at, firstTest: randomUUID(), lastAt: at, lastTest: randomUUID(), lastFailure: randomUUID() },
    };
  });
  const days = nodes.map(({ id: nodeId, firstAt, firstTest: testId }) => ({
    ...{ nodeId, testId, pipelineName: 'CI', jobName: 'unit', axes: '{}' },
    ...{ day: Math.floor(firstAt / DAY_MS), failures: 2 },
  }));
  const { db, pool } = stores.postgres;
  await db.transaction((tx) => replaceCauses(tx, repositoryId, { nodes, days, groups: [] }));
  await pool.query('analyze ci_insights.cause_nodes');
  await pool.query('analyze ci_insights.cause_days');
});

const WINDOW: CauseSelection = {
  ...{
    days: { from: FIRST_DAY + 50, to: FIRST_DAY + 90 },
    words: '',
    phrases: [],
    healths: [],
    owners: null,
    among: null,
  },
};

async function planOf(selection: CauseSelection): Promise<string> {
  const order = { sort: 'newest', key: null, direction: 'next', limit: 11 } as const;
  const { rows } = await stores.postgres.db.execute(sql`explain ${causeIdsStatement(repositoryId, selection, order)}`);
  return JSON.stringify(rows);
}

test('the newest causes come in the order of an index, and no table is read as a whole', async () => {
  const plan = await planOf(WINDOW);
  expect(plan).toContain('cause_nodes_last');
  expect(plan).not.toContain('Seq Scan');
});

test.each([
  ['words', { ...WINDOW, words: 'wordab wordcd' }],
  ['a phrase', { ...WINDOW, phrases: ['wordab wordcd'] }],
])('%s are found by the index of words', async (_, selection) => {
  const plan = await planOf(selection);
  expect(plan).toContain('cause_nodes_words');
  expect(plan).not.toContain('Seq Scan');
});

test.each(['failures', 'tests'] as const)(
  'pages from memory in the order of %s are those of the store',
  async (sort) => {
    const { db } = stores.postgres;
    const rankings = new CauseRankings(db);
    for (const direction of ['next', 'previous'] as const) {
      let key: CauseKey | null = null;
      for (let page = 0; page < 4; page++) {
        const order = { sort, key, direction, limit: 7 };
        const found = await findCauseIds(db, repositoryId, WINDOW, order);
        expect(found.length).toBe(7);
        expect(await rankings.page(repositoryId, WINDOW, order)).toEqual(found);
        const last = found.at(-1);
        key = last ? [last.value, last.cause_id] : null;
      }
    }
  },
);

test.each(['Error', 'wordab', 'wordab wordcd'])(
  'every cause with %s is found, newest first, in pages',
  async (words) => {
    const { db } = stores.postgres;
    const wanted = words.toLowerCase().split(' ');
    const { from, to } = WINDOW.days;
    const expected = (await readCauseNodes(db, repositoryId))
      .filter(({ exceptionType, message }) => {
        const has = `${exceptionType} ${message}`.toLowerCase().split(' ');
        return wanted.every((word) => has.includes(word));
      })
      .filter(({ lastAt }) => lastAt >= from * DAY_MS && lastAt < (to + 1) * DAY_MS)
      .sort((one, other) => other.lastAt - one.lastAt || (other.causeId < one.causeId ? -1 : 1))
      .map(({ causeId }) => causeId);
    for (const direction of ['next', 'previous'] as const) {
      const found: string[] = [];
      for (let key: CauseKey | null = null; ; ) {
        const page: Awaited<ReturnType<typeof findCauseIds>> = await findCauseIds(
          db,
          repositoryId,
          { ...WINDOW, words },
          { sort: 'newest', key, direction, limit: 150 },
        );
        found.push(...page.map(({ cause_id: id }) => id));
        const last = page.at(-1);
        if (!last || page.length < 150) break;
        key = [last.value, last.cause_id];
      }
      expect(found).toEqual(direction === 'next' ? expected : expected.toReversed());
    }
  },
);

test('causes that are as they were are not written again', async () => {
  const { db } = stores.postgres;
  const versions = async () =>
    JSON.stringify(
      (
        await db.execute(
          sql`select max(xmin::text::bigint) as newest from ci_insights.cause_nodes where repository_id = ${repositoryId}`,
        )
      ).rows,
    );
  const before = await versions();
  await db.transaction(async (tx) =>
    replaceCauses(tx, repositoryId, {
      nodes: await readCauseNodes(tx, repositoryId),
      groups: await readCauseGroups(tx, repositoryId),
      days: await readCauseDays(tx, repositoryId),
    }),
  );
  expect(await versions()).toBe(before);
});
