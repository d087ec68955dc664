/** The list of repositories: what a credential sees of them, and how their tests are. */
import { expect, test } from 'bun:test';
import { TEST_NOW } from '../support/clock.ts';
import { at, beside, type InsightsFixture, iso, setUpInsights } from '../support/insights.ts';

interface Listed {
  repositories: {
    owner: string;
    repository: string;
    tests: number;
    flaky_tests: number;
    broken_tests: number;
    quarantined_tests: number;
    failed_executions_by_day: number[];
    last_run_at: string | null;
    last_upload_at: string | null;
    ingest_lag_seconds: number | null;
  }[];
}

const insights = setUpInsights(async (fixture) => {
  await fixture.ingest(
    fixture.run([
      { name: 'steady', at: at(3) },
      { name: 'shaky', at: at(3), isFlaky: true, failures: [{}] },
      ...beside(3),
    ]),
    fixture.run([{ name: 'steady', at: at(2) }], { job_name: 'e2e' }),
  );
});

/** With a new app: one keeps the days for some seconds. */
const listFor = async (token: string): Promise<Listed['repositories']> => {
  const response = await insights.app.request('/v1/repositories', { token });
  expect(response.status).toBe(200);
  return ((await response.json()) as Listed).repositories;
};

test('a key sees the repositories that it is for, and counts each test once', async () => {
  const { owner, name } = insights.fixture.repository;
  const quarantines = `${insights.fixture.base}/quarantines`;
  for (const branch of ['main', 'release/*'])
    await insights.app.request(quarantines, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ test_name: 'shaky', reason: '', branch }),
    });
  const another = insights.fixture.another();
  await another.ingest(another.run([{ name: 'elsewhere' }]));

  const ofOwner = await listFor(await insights.app.makeKey({ owner: owner.toUpperCase() }));
  expect(ofOwner.find(({ repository }) => repository === name)).toMatchObject({
    owner,
    tests: 42,
    flaky_tests: 1,
    quarantined_tests: 1,
  });
  expect(ofOwner.map(({ repository }) => repository)).toContain(another.repository.name);
  const ofOne = await listFor(await insights.app.makeKey({ owner, repositories: [name], scope: 'view' }));
  expect(ofOne.map(({ repository }) => repository)).toEqual([name]);
  expect(await listFor(await insights.app.makeKey({ owner: 'another' }))).toEqual([]);
});

test('those with the most broken tests come first, of these those with the most flaky ones, then with the most failures', async () => {
  const listed = await listFor(insights.app.adminToken);
  expect(listed.length).toBeGreaterThan(1);
  const trouble = listed.map(({ broken_tests, flaky_tests, failed_executions_by_day: days }) => [
    broken_tests,
    flaky_tests,
    days.reduce((sum, failed) => sum + failed, 0),
  ]);
  const inOrder = trouble.toSorted(
    ([b1 = 0, f1 = 0, e1 = 0], [b2 = 0, f2 = 0, e2 = 0]) => b2 - b1 || f2 - f1 || e2 - e1,
  );
  expect(trouble).toEqual(inOrder);
});

/** The entry of one repository in the list. */
const summaryOf = async ({ repository: { owner, name } }: InsightsFixture) => {
  const listed = await listFor(await insights.app.makeKey({ owner, repositories: [name] }));
  return listed[0];
};
const numbersOf = async (fixture: InsightsFixture) => {
  const found = await summaryOf(fixture);
  return [found?.tests, found?.flaky_tests, found?.broken_tests];
};

test('what ran since the last look is counted, also where several look at once', async () => {
  const another = insights.fixture.another();
  const failed = (name: string) => ({ name, status: 'failed' as const, failures: [{ message: 'no' }] });
  await another.ingest(another.run([{ name: 'a' }, { name: 'b' }]));
  expect(await numbersOf(another)).toEqual([2, 0, 0]);
  await another.ingest(another.run([{ name: 'c' }, { name: 'd', isFlaky: true, failures: [{}] }, ...beside(0)]));
  expect(await Promise.all(Array.from({ length: 4 }, () => numbersOf(another)))).toEqual(
    Array.from({ length: 4 }, () => [44, 1, 0]),
  );
  for (let i = 0; i < 3; i++) await another.ingest(another.run([failed('a'), ...beside(0)]));
  expect(await numbersOf(another)).toEqual([44, 1, 1]);
});

test('the failures of each day, the newest run and the lag of the newest upload are those of the other reads', async () => {
  const another = insights.fixture.another();
  const failed = (hoursAgo: number) => ({ name: 'a', at: at(hoursAgo), status: 'failed' as const, failures: [{}] });
  await another.ingest(
    another.run([failed(24 * 12), failed(24 * 12 + 1)]),
    another.run([failed(26)]),
    another.run([{ name: 'a', at: at(2) }]),
    another.run([{ name: 'a', at: at(24 * 20), status: 'failed', failures: [{}] }]),
    // On another branch: it is the newest run, and no failure of the repository.
    another.run([{ name: 'a', at: at(1), status: 'failed', failures: [{}] }], { branch: 'feature' }),
  );
  const found = await summaryOf(another);
  const series = await insights.app.get<{ value: number; value_over_time: { value: number }[] }>(
    `${another.base}/tests/stats/failed_executions`,
  );
  expect(found?.failed_executions_by_day).toEqual(series.value_over_time.map(({ value }) => value));
  expect(series.value).toBe(3);
  expect(found).toMatchObject({ last_run_at: iso(at(1)), last_upload_at: iso(TEST_NOW), ingest_lag_seconds: 0 });

  // A late run is not the newest.
  await another.ingest(another.run([{ name: 'a', at: at(3) }], { branch: 'feature' }));
  expect((await summaryOf(another))?.last_run_at).toBe(iso(at(1)));

  // Received a minute before it was stored.
  const { clock } = insights.app.stores;
  const late = another.run([{ name: 'a' }]);
  clock.set(TEST_NOW + 60_000);
  try {
    await another.ingest(late);
  } finally {
    clock.set(TEST_NOW);
  }
  expect(await summaryOf(another)).toMatchObject({ ingest_lag_seconds: 60 });
});

test('in pages, each repository is on one of them, in the order of the whole list, also while another comes', async () => {
  const owner = `pages-${crypto.randomUUID()}`;
  const record = (name: string) => insights.app.stores.repositories.record({ host: 'github.com', owner, name });
  for (let i = 0; i < 7; i++) await record(`${i % 2 === 0 ? 'Even' : 'odd'}-${i}`);
  const token = await insights.app.makeKey({ owner });
  const read = async (address: string) => {
    const response = await insights.app.request(address, { token });
    expect(response.status).toBe(200);
    const links = response.headers.get('link') ?? '';
    const link = (rel: string) => new RegExp(`<([^>]+)>; rel="${rel}"`).exec(links)?.[1];
    const { total, repositories } = (await response.json()) as Listed & { total: number };
    return { total, names: repositories.map(({ repository }) => repository), next: link('next'), prev: link('prev') };
  };
  const whole = await read('/v1/repositories');
  expect(whole).toMatchObject({ total: 7, next: undefined });
  let page = await read('/v1/repositories?per_page=3');
  const pages = [page.names];
  while (page.next) {
    await record(`another-${pages.length}`);
    page = await read(page.next);
    pages.push(page.names);
  }
  expect(pages.flat()).toEqual(whole.names);
  expect(pages.length).toBe(3);
  expect((await read(page.prev ?? '')).names).toEqual(pages[1] ?? []);

  const found = await read(`/v1/repositories?name=${owner.slice(-8).toUpperCase()}/even&per_page=2`);
  expect(found).toMatchObject({ total: 4, names: ['Even-0', 'Even-2'] });
  expect(await read('/v1/repositories?name=nowhere')).toMatchObject({ total: 0, names: [] });
  const foreign = await insights.app.request(found.next?.replace('even', 'odd') ?? '', { token });
  expect(foreign.status).toBe(422);
});

test('a repository in which nothing ran lately has no failures, no run and no upload', async () => {
  const another = insights.fixture.another();
  await insights.app.stores.repositories.record(another.repository);
  expect(await summaryOf(another)).toMatchObject({
    tests: 0,
    failed_executions_by_day: Array.from({ length: 14 }, () => 0),
    last_run_at: null,
    last_upload_at: null,
    ingest_lag_seconds: null,
  });
});
