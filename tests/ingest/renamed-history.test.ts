/** A test that allure-pytest knows again by its `historyId`, in reports that it wrote: its name alone would not tell. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { z } from 'zod';
import { HOUR_MS } from '../../src/domain/time.ts';
import { allure } from '../../src/formats/allure/format.ts';
import { Uploads } from '../support/gateway.ts';
import { fixtureBytes } from '../support/parsing.ts';

let uploads: Uploads;
beforeAll(async () => {
  uploads = await Uploads.open();
  uploads.app.stores.clock.set(Date.parse('2026-11-29T00:00:00Z'));
});
afterAll(() => uploads.close());

const OLD = 'test_cart.TestCart#test_adds';
const NEW = 'test_basket.TestBasket#test_puts_in';
const parts = z.array(z.looseObject({ start: z.number(), stop: z.number(), fullName: z.string().optional() }));

/** The report some hours later, with the test under another name. */
async function reportOf(hours: number, name: string): Promise<Uint8Array> {
  const read = parts.parse(JSON.parse(Buffer.from(await fixtureBytes('allure/allure-pytest-2.16.json')).toString()));
  const later = read.map((part) => ({
    ...part,
    start: part.start + hours * HOUR_MS,
    stop: part.stop + hours * HOUR_MS,
    ...(part.fullName === OLD && { fullName: name, name, titlePath: [] }),
  }));
  return Buffer.from(JSON.stringify(later));
}

test('is proposed with that reason, and what is stored of it is a hash', async () => {
  const { base } = uploads.repository();
  for (let hour = 0; hour < 8; hour++) {
    const run = { commit: `c${hour}`, run_id: `${hour}`, branch: 'main', default_branch: 'main' };
    await uploads.report(allure, base, await reportOf(hour, hour < 4 ? OLD : NEW), run);
    await uploads.driver.settle();
  }
  const { renames } = await uploads.app.get<{ renames: object[] }>(`${base}/renames`);
  expect(renames).toMatchObject([
    { test_name: OLD, new_name: NEW, reasons: ['same_commit', 'same_history'], confidence: 0.99 },
  ]);
  const stored = await uploads.app.stores.clickhouse.rows(
    `SELECT uniqExact(history_hash) AS hashes, countIf(history_hash = 0) AS without FROM ci.executions
     WHERE test_name IN {names: Array(String)}`,
    { names: [OLD, NEW] },
  );
  expect(stored).toEqual([{ hashes: 1, without: 0 }]);
});
