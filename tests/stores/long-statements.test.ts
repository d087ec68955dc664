/** Statements that read whole months take a bounded amount of memory: what they group does not have to fit into it. */
import { beforeAll, expect, test } from 'bun:test';
import { z } from 'zod';
import { onOneThread } from '../../src/clickhouse/patient.ts';
import type { Query } from '../../src/clickhouse/query.ts';
import { openTestStores, type TestStores } from '../support/stores.ts';

let stores: TestStores;
beforeAll(async () => {
  stores = await openTestStores();
});

const countRow = z.object({ count: z.number() });

/** Looks for what is stored twice, like a verification, with groups that take more than a long statement may. */
const twice: Query<Record<string, never>, z.infer<typeof countRow>> = {
  name: 'tests/twice',
  sql: `SELECT toUInt32(count()) AS count FROM
    (SELECT number FROM numbers(16000000) GROUP BY number, toString(number % 3) HAVING count() > 1)`,
  params: {},
  samples: {},
  row: countRow,
  isLong: true,
};

async function writtenToDisk(): Promise<number> {
  const rows = await stores.clickhouse.rows(
    "SELECT toUInt32(sum(value)) AS count FROM system.events WHERE event = 'ExternalAggregationWritePart'",
  );
  return countRow.parse(rows[0]).count;
}

test.each([
  ['of a command', () => stores.clickhouse],
  ['beside a running service', () => onOneThread(stores.clickhouse)],
])('a long statement %s groups on disk what does not fit', async (_, clickhouse) => {
  const before = await writtenToDisk();
  expect(await clickhouse().select(twice, {})).toEqual([{ count: 0 }]);
  expect(await writtenToDisk()).toBeGreaterThan(before);
});
