/** What is kept in memory of days is what a read of all of them gives, whatever arrived since. */
import { expect, test } from 'bun:test';
import type { ClickHouse } from '../../src/clickhouse/client.ts';
import { DAY_MS, dayOf, HOUR_MS, MINUTE_MS } from '../../src/domain/time.ts';
import { RedRunCauses } from '../../src/insights/causes-of-red-runs.ts';
import { RunDays, type RunsOfDay } from '../../src/insights/run-days.ts';
import { TEST_NOW } from '../support/clock.ts';
import { setUpInsights } from '../support/insights.ts';
import { randomFrom } from '../support/random.ts';

const DAYS = 40;
const start = dayOf(TEST_NOW - DAYS * DAY_MS) * DAY_MS;
const window = { start, end: TEST_NOW, branches: [] };
const seed = Number(process.env.TEST_SEED ?? Date.now() % 1_000_000);
const random = randomFrom(seed);
const below = (count: number): number => Math.floor(random() * count);

const insights = setUpInsights();

/**
 * Attempts of a few legs of a few changes, near midnight as often as not, days or weeks apart. An attempt always begins at
 * the same time: drawn again, more of it arrives late.
 */
const randomRun = (from: number, days: number) => {
  const [change, job, number, attempt] = [below(12), below(2), below(20), 1 + below(3)];
  const ofRun = randomFrom(1_000 * change + 10 * number);
  const ofAttempt = randomFrom(1_000 * change + 10 * number + attempt);
  const day = Math.min(days - 1, Math.floor(ofRun() * days) + (attempt - 1) * Math.floor(ofAttempt() * 6));
  const at = from + day * DAY_MS + attempt * HOUR_MS + (ofAttempt() < 0.5 ? 21 * HOUR_MS - MINUTE_MS : 0);
  const executions = ['steady', 'cart', 'mail'].map((name, i) => ({
    name,
    at: at + i * MINUTE_MS,
    ...(i > 0 && random() < 0.3 && { status: 'failed' as const, failures: [{ message: 'no' }] }),
  }));
  return insights.fixture.run(executions, {
    branch: change < 4 ? 'main' : `topic-${change}`,
    commit: `commit-${change}-${number % 2}`,
    ...(change >= 8 && { pull_request: change }),
    ...{ job_name: `job ${job}`, run_id: `run-${change}-${number}`, run_attempt: attempt },
  });
};

async function setUp() {
  const { stores } = insights.fixture;
  const { owner, name } = insights.fixture.repository;
  const repository = await stores.repositories.find(owner, name);
  if (!repository) throw new Error('nothing was ingested');
  const read: { start: number; end: number }[] = [];
  const clickhouse: ClickHouse = Object.create(stores.clickhouse, {
    select: {
      value: (...asked: Parameters<ClickHouse['select']>) => {
        const [query, params] = asked;
        if (query.name === 'insights/red_runs') {
          const { start_ms: from, end_ms: to } = params as unknown as { start_ms: number; end_ms: number };
          read.push({ start: from, end: to });
        }
        return stores.clickhouse.select(...asked);
      },
    },
  });
  const days = new RunDays({ clickhouse });
  const of = (runDays: RunDays, asked = window): Promise<RunsOfDay[]> => runDays.of(repository, asked, { owner });
  return {
    kept: (asked = window) => of(days, asked),
    fresh: (asked = window) => of(new RunDays(stores), asked),
    read,
  };
}

const sorted = (days: readonly RunsOfDay[]) =>
  days.map(({ red, starts, defaultStarts, outside }) => ({
    red: red
      .map((run) => ({
        ...run,
        alwaysFailed: run.alwaysFailed.toSorted(),
        costly: { ...run.costly, tests: run.costly.tests.toSorted() },
      }))
      .sort((one, other) => (one.costly.key < other.costly.key ? -1 : 1)),
    starts: starts.toSorted((one, other) => one - other),
    defaultStarts: defaultStarts.toSorted((one, other) => one - other),
    outside: outside.toSorted((one, other) => one.began_ms - other.began_ms || one.next_ms - other.next_ms),
  }));

test(`days kept in memory are those of a fresh read after each late result, and those of a shorter window (seed ${seed})`, async () => {
  await insights.fixture.ingest(...Array.from({ length: 150 }, () => randomRun(start, DAYS)));
  const { kept, fresh } = await setUp();
  await kept();
  for (let round = 0; round < 6; round++) {
    await insights.fixture.ingest(randomRun(start, DAYS));
    const all = sorted(await fresh());
    expect(sorted(await kept())).toEqual(all);
    const from = start + below(DAYS) * DAY_MS;
    const part = { ...window, start: from, end: Math.min(TEST_NOW, from + (1 + below(5)) * DAY_MS) };
    const isOfPart = ({ starts: [first = 0] }: RunsOfDay): boolean =>
      dayOf(first) >= dayOf(part.start) && dayOf(first) <= dayOf(part.end - 1);
    expect(sorted(await fresh(part))).toEqual(all.filter(isOfPart));
  }
});

test(`the causes of red runs, kept by day, are those of a fresh read after each late result (seed ${seed})`, async () => {
  const { stores } = insights.fixture;
  const { owner, name } = insights.fixture.repository;
  const repository = await stores.repositories.find(owner, name);
  if (!repository) throw new Error('nothing was ingested');
  const causeDeps = { clickhouse: stores.clickhouse, db: stores.postgres.db };
  const kept = new RedRunCauses(causeDeps);
  for (let round = 0; round < 4; round++) {
    // Another window each time: the answer about one is kept for a minute.
    const asked = { start, end: TEST_NOW - round };
    const [of, ofFresh] = [await kept.of(repository, asked), await new RedRunCauses(causeDeps).of(repository, asked)];
    const red = (await new RunDays(stores).of(repository, window, { owner })).flatMap((day) => day.red);
    expect(red.length).toBeGreaterThan(20);
    for (const { costly } of red)
      for (const testId of costly.tests)
        expect(of(costly.key, testId).toSorted()).toEqual(ofFresh(costly.key, testId).toSorted());
    const known = red.flatMap(({ costly: { key, tests } }) => tests.flatMap((testId) => of(key, testId)));
    expect(known.some((cause) => cause !== null)).toBe(true);
    await insights.fixture.ingest(randomRun(start, DAYS), randomRun(start, DAYS));
  }
});

test('only days near a late result are read again, and none if nothing arrived', async () => {
  const { kept, read } = await setUp();
  await kept();
  read.length = 0;
  await kept();
  expect(read).toEqual([]);
  await insights.fixture.ingest(
    insights.fixture.run([{ name: 'cart', at: start + 20 * DAY_MS, status: 'failed', failures: [{ message: 'no' }] }]),
  );
  await kept();
  expect(read).toHaveLength(1);
  // A run of eight days before may have begun then, and one of two days after may have ended then.
  expect(read[0]?.start).toBeGreaterThanOrEqual(start + 12 * DAY_MS);
  expect(read[0]?.end).toBeLessThanOrEqual(start + 24 * DAY_MS);
});
