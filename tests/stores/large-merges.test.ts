/** When the embedded ClickHouse may merge large parts of executions (workers/large-merges.ts). */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { allowLargeMerges } from '../../src/clickhouse/large-merges.ts';
import { StoreUnavailable } from '../../src/errors.ts';
import { LargeMerges, type LargeMergesDeps } from '../../workers/large-merges.ts';
import { openTestStores, type TestStores } from '../support/stores.ts';

// No workers: theirs would change the setting as well.
let stores: TestStores;
beforeAll(async () => {
  stores = await openTestStores();
});
afterAll(() => allowLargeMerges(stores.clickhouse));

async function arePostponed(): Promise<boolean> {
  const [table] = await stores.clickhouse.rows(
    "SELECT create_table_query AS text FROM system.tables WHERE database = 'ci' AND name = 'executions'",
  );
  return JSON.stringify(table).includes('max_bytes_to_merge_at_max_space_in_pool');
}

const HOUR_MS = 3_600_000;
const evaluator = { lastLargeAt: 0 };
function busy(): void {
  evaluator.lastLargeAt = performance.now();
}
function quiet(): void {
  evaluator.lastLargeAt = Number.NEGATIVE_INFINITY;
}

function merges(options: Partial<LargeMergesDeps> = {}): LargeMerges {
  const { clickhouse, log } = stores;
  return new LargeMerges({ clickhouse, evaluator, log, quietMs: HOUR_MS, ...options });
}

test('they wait from the first large pass until it is quiet', async () => {
  const large = merges();
  quiet();
  await large.round();
  expect(await arePostponed()).toBe(false);
  await merges().round();
  expect(await arePostponed()).toBe(false);

  // Allowed just now: they stay so for as long as it takes to begin.
  busy();
  await large.round();
  expect(await arePostponed()).toBe(false);
  const next = merges();
  await next.round();
  expect(await arePostponed()).toBe(true);
  await next.round();
  expect(await arePostponed()).toBe(true);
  quiet();
  await next.round();
  expect(await arePostponed()).toBe(false);
});

test('they do not wait for ever', async () => {
  busy();
  const large = merges({ latestMs: 0 });
  await large.round();
  expect(await arePostponed()).toBe(true);
  await large.round();
  expect(await arePostponed()).toBe(false);
});

test('none waits after the service has stopped, and the first round allows what a killed one had postponed', async () => {
  busy();
  const large = merges();
  await large.round();
  expect(await arePostponed()).toBe(true);
  await large.stop();
  expect(await arePostponed()).toBe(false);

  // A store that is down keeps nothing from stopping.
  const { clickhouse } = stores;
  let isDown = false;
  const command: typeof clickhouse.command = (text) =>
    isDown ? Promise.reject(new StoreUnavailable('clickhouse')) : clickhouse.command(text);
  const killed = merges({ clickhouse: { ...clickhouse, command } });
  await killed.round();
  isDown = true;
  await killed.stop();
  expect(await arePostponed()).toBe(true);
  quiet();
  await merges().round();
  expect(await arePostponed()).toBe(false);
});
