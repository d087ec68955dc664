/** Splits of a list of tests: times from ClickHouse, and the same groups for every shard of a run. */
import { expect, spyOn, test } from 'bun:test';
import { sql } from 'drizzle-orm';
import { StoreUnavailable } from '../../src/errors.ts';
import { findSplit, forgetSplits, keepSplit, trimSplits } from '../../src/postgres/splits.ts';
import { at, setUpInsights } from '../support/insights.ts';
import type { TestExecution } from '../support/jobs.ts';

const DAY = 24;

/** A test of pytest, as its JUnit report names it, and a time for each of its runs. */
const runs = (name: string, seconds: number[], more: Partial<TestExecution> = {}): TestExecution[] =>
  seconds.map((durationSeconds, i) => ({
    ...{ name, durationSeconds, at: at(2 + i), key: `${name} ${i}` },
    function: name.slice(name.lastIndexOf('.') + 1),
    ...more,
  }));

const insights = setUpInsights(async (fixture) => {
  const failures = [{ message: 'no' }];
  await fixture.ingest(
    fixture.run([
      ...runs('tests.test_cart.TestCart.test_a', [1, 3, 200]),
      ...runs('tests.test_cart.TestCart.test_b', [5]),
      ...runs('tests.test_cart.TestCart.test_b', [900], { status: 'failed', failures, at: at(3) }),
      ...runs('tests.test_cart.TestCart.test_old', [700], { at: at(15 * DAY) }),
      ...runs('src/pay.test.js.pays', [4], { filepath: 'src/pay.test.js' }),
      ...runs('src/pay.test.js.ships', [2], { filepath: 'src/pay.test.js' }),
    ]),
    fixture.run(runs('tests.test_cart.TestCart.test_a', [40]), { job_name: 'slow', axes: { os: 'windows' } }),
    fixture.run(runs('tests.test_cart.TestCart.test_a', [9_000]), { branch: 'fix', pull_request: 7 }),
  );
});

interface Answer {
  total: number;
  index: number | null;
  names: number;
  known: number;
  groups: { index: number; seconds: number; names: string[] }[];
  warnings: string[];
}

const send = (body: Record<string, unknown>, base = insights.fixture.base) =>
  insights.app.request(`${base}/split`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

async function split(body: Record<string, unknown>, base?: string): Promise<Answer> {
  const response = await send(body, base);
  expect(response.status).toBe(200);
  return (await response.json()) as Answer;
}

const secondsOf = async (by: string, name: string, more: Record<string, unknown> = {}) =>
  (await split({ names: [name], by, total: 1, ...more })).groups[0]?.seconds;

const A = 'tests/test_cart.py::TestCart::test_a';

test('a test takes the median of its passes of two weeks on the default branch, in its leg if it is known there', async () => {
  expect(await secondsOf('test', 'tests.test_cart.TestCart.test_b')).toBe(5);
  expect(await secondsOf('test', A, { pipeline_name: 'CI', job_name: 'unit' })).toBe(3);
  expect(await secondsOf('test', A, { pipeline_name: 'CI', job_name: 'slow', axes: { os: 'windows' } })).toBe(40);
  // The median of 1, 3, 40 and 200.
  expect(await secondsOf('test', A, { pipeline_name: 'CI', job_name: 'never ran' })).toBe(21.5);
});

test('a file and a class take as long as their tests, and a new test takes the mean of its class', async () => {
  const unit = { pipeline_name: 'CI', job_name: 'unit' };
  expect(await secondsOf('file', './src/pay.test.js', unit)).toBe(6);
  expect(await secondsOf('file', 'tests/test_cart.py', unit)).toBe(8);
  expect(await secondsOf('class', 'tests.test_cart.TestCart', unit)).toBe(8);
  const fresh = await split({ names: ['tests/test_cart.py::TestCart::test_new'], by: 'test', total: 1, ...unit });
  expect(fresh).toMatchObject({ known: 0, names: 1, groups: [{ seconds: 4 }] });
});

test('every name is in one group, the slow ones apart, and a shard may ask for its own only', async () => {
  const names = ['src/pay.test.js', 'tests/test_cart.py', 'new.test.js', 'new.test.js'];
  const whole = await split({ names, total: 2, pipeline_name: 'CI', job_name: 'unit' });
  expect(whole).toMatchObject({ total: 2, index: null, names: 3, known: 2, warnings: [] });
  expect(whole.groups.flatMap((group) => group.names).toSorted()).toEqual([...new Set(names)].toSorted());
  const one = await split({ names, total: 2, index: 1, pipeline_name: 'CI', job_name: 'unit' });
  expect(one.groups).toEqual(whole.groups.slice(1));
});

test('shards of a run get the same groups, also when results come in between and the order is another', async () => {
  const fixture = insights.fixture.another();
  const names = Array.from({ length: 30 }, (_, i) => `t${i}`);
  const asked = { by: 'test', total: 3, pipeline_name: 'CI', job_name: 'unit', run_id: '4711' };
  // Nothing was ever sent for this repository.
  const first = await split({ ...asked, names, index: 0 }, fixture.base);
  await fixture.ingest(fixture.run(names.map((name, i) => ({ name, durationSeconds: (i + 1) ** 2, at: at(2) }))));
  const rest = [];
  for (const index of [1, 2]) rest.push(await split({ ...asked, names: names.toReversed(), index }, fixture.base));
  const shards = [first, ...rest];
  expect(shards.flatMap(({ groups }) => groups.flatMap((group) => group.names)).toSorted()).toEqual(names.toSorted());
  expect(shards.map(({ known }) => known)).toEqual([0, 0, 0]);
  // Another attempt of a shard runs what it ran before; another run reads the times again.
  expect(await split({ ...asked, names, index: 0 }, fixture.base)).toEqual(first);
  expect((await split({ ...asked, names, run_id: '4712' }, fixture.base)).known).toBe(30);
  expect((await split({ names, by: 'test', total: 3 }, fixture.base)).known).toBe(30);
});

test('shards that ask at the same moment agree, and the times are read once', async () => {
  const names = ['src/pay.test.js', 'tests/test_cart.py', 'a.js', 'b.js', 'c.js'];
  const asked = { names, total: 4, run_id: 'at once' };
  const read = spyOn(insights.app.stores.clickhouse, 'select');
  try {
    const shards = await Promise.all([0, 1, 2, 3].map((index) => split({ ...asked, index })));
    expect(shards.flatMap(({ groups }) => groups.flatMap((group) => group.names)).toSorted()).toEqual(names.toSorted());
    expect(read).toHaveBeenCalledTimes(1);
  } finally {
    read.mockRestore();
  }
});

test('a shard with another list is warned, unless the list has its own name', async () => {
  const asked = { names: ['a', 'b'], total: 2, run_id: 'lists' };
  expect((await split(asked)).warnings).toEqual([]);
  expect((await split({ ...asked, names: ['a', 'c'] })).warnings).toEqual([
    expect.stringContaining('different lists: a test may run twice or never'),
  ]);
  expect((await split({ ...asked, names: ['a', 'd'], list: 'slow' })).warnings).toEqual([]);
  expect((await split({ ...asked, names: ['a', 'd'], total: 3 })).warnings).toEqual([]);
});

test('while ClickHouse is away groups are of equal size, with a warning, and shards agree all the same', async () => {
  const names = ['src/pay.test.js', 'tests/test_cart.py', 'a.js', 'b.js'];
  const away = new StoreUnavailable('clickhouse', new Error('away'));
  const read = spyOn(insights.app.stores.clickhouse, 'select').mockRejectedValue(away);
  const first = await split({ names, total: 2, run_id: 'away' }).finally(() => read.mockRestore());
  expect(first).toMatchObject({ known: 0, groups: [{ seconds: 2 }, { seconds: 2 }] });
  expect(first.warnings).toEqual([expect.stringContaining('could not be read')]);
  expect(await split({ names, total: 2, run_id: 'away' })).toEqual(first);
});

test('the worker forgets splits after a week', async () => {
  const { db } = insights.app.stores.postgres;
  const asked = { names: ['a'], total: 1, run_id: 'old' };
  await split(asked);
  const repository = insights.fixture.base
    .split('/')
    .filter((_, i) => i === 3 || i === 5)
    .join('/')
    .toLowerCase();
  const kept = async () =>
    (await db.execute(sql`select 1 from ci_insights.splits where repository = ${repository}`)).rowCount ?? 0;
  const before = await kept();
  await forgetSplits(db);
  expect([before > 0, await kept()]).toEqual([true, before]);
  await db.execute(
    sql`update ci_insights.splits set created_at = now() - interval '8 days' where repository = ${repository}`,
  );
  await forgetSplits(db);
  expect(await kept()).toBe(0);
});

test.each([
  ['no name', { total: 2, names: [] }, 'names'],
  ['an empty name', { total: 2, names: [''] }, 'names'],
  ['no group', { total: 0, names: ['a'] }, 'total'],
  ['too many groups', { total: 501, names: ['a'] }, 'total'],
  ['a group beyond the last', { total: 2, index: 2, names: ['a'] }, 'index'],
  ['a group before the first', { total: 2, index: -1, names: ['a'] }, 'index'],
  ['another kind of names', { total: 2, by: 'suite', names: ['a'] }, 'by'],
  ['an axis with a blank', { total: 2, axes: { 'a b': 'c' }, names: ['a'] }, 'axes'],
  ['too many names', { total: 2, names: Array.from({ length: 10_001 }, (_, i) => `t${i}`) }, 'names'],
])('%s is refused', async (_, body, field) => {
  const response = await send(body);
  expect(response.status).toBe(422);
  const { errors } = (await response.json()) as { errors: { loc: unknown[] }[] };
  expect(errors.map(({ loc }) => loc[1])).toContain(field);
});

test('the oldest splits of a repository make room, and those of others stay', async () => {
  const { db } = insights.app.stores.postgres;
  const [mine, theirs] = ['mine', 'theirs'].map((name) => ({ owner: 'trimmed', name }));
  if (!mine || !theirs) throw new Error('there are two');
  const key = (repository: typeof mine, number: number) => {
    const id = `00000000-0000-0000-0000-00000000000${number}`;
    return { repository, runKey: id, listKey: id };
  };
  await keepSplit(db, key(theirs, 0), '{}');
  for (const number of [1, 2, 3]) await keepSplit(db, key(mine, number), '{}');
  await trimSplits(db, mine, 2);
  const kept = await Promise.all([1, 2, 3].map(async (number) => (await findSplit(db, key(mine, number))).split));
  expect(kept).toEqual([undefined, '{}', '{}']);
  expect((await findSplit(db, key(theirs, 0))).split).toBe('{}');
});
