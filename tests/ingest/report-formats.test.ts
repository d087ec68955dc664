/** A report of each format on its way from the upload to the reads. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { allure } from '../../src/formats/allure/format.ts';
import { ctrf } from '../../src/formats/ctrf/format.ts';
import { cucumber } from '../../src/formats/cucumber/format.ts';
import type { ReportFormat } from '../../src/formats/format.ts';
import { goTest } from '../../src/formats/go-test/format.ts';
import { junit } from '../../src/formats/junit/format.ts';
import { playwright } from '../../src/formats/playwright/format.ts';
import { robot } from '../../src/formats/robot/format.ts';
import { tap } from '../../src/formats/tap/format.ts';
import { testng } from '../../src/formats/testng/format.ts';
import { trx } from '../../src/formats/trx/format.ts';
import { type Receipt, Uploads } from '../support/gateway.ts';
import { fixtureBytes } from '../support/parsing.ts';

let uploads: Uploads;
beforeAll(async () => {
  uploads = await Uploads.open();
  uploads.app.stores.clock.set(Date.parse('2026-11-22T00:00:00Z'));
});
afterAll(() => uploads.close());

interface Found {
  tests: { test_id: string; test_name: string }[];
}

interface Sample {
  format: ReportFormat;
  file: string;
  tests: number;
  executions: number;
  failed: { name: string; type: string | null; message: string; function: string };
}

const SAMPLES: Sample[] = [
  {
    format: playwright,
    file: 'two-projects.json',
    tests: 19,
    executions: 19,
    failed: {
      name: '[mobile] › cart.spec.ts › Cart › totals › sums [a, b] with 10% tax',
      type: 'Error',
      message: 'expect(received).toBe(expected) // Object.is equality\n\nExpected: 3\nReceived: 2',
      function: 'sums [a, b] with 10% tax',
    },
  },
  {
    format: goTest,
    file: 'every-outcome.json',
    tests: 46,
    executions: 46,
    failed: {
      name: 'example.com/shop/crash.TestPanics',
      type: 'panic',
      message: 'panic: assignment to entry in nil map',
      function: 'TestPanics',
    },
  },
  {
    format: trx,
    file: 'vstest-mstest.trx',
    tests: 6,
    executions: 6,
    failed: {
      name: 'Shop.CartTests.IsEmptied',
      type: 'System.InvalidOperationException',
      message: 'The cart is locked',
      function: 'IsEmptied',
    },
  },
  {
    format: cucumber,
    file: 'messages-js-12.ndjson',
    tests: 14,
    executions: 14,
    failed: {
      name: 'Cart.Pays with amex',
      type: 'Error',
      message: 'amex is refused',
      function: 'Pays with amex',
    },
  },
  {
    format: tap,
    file: 'node-20.tap',
    tests: 11,
    executions: 11,
    failed: { name: 'Cart › ships', type: 'RangeError', message: 'too far', function: 'ships' },
  },
  {
    format: robot,
    file: 'robot-7.5-merged.xml',
    tests: 10,
    executions: 10,
    failed: { name: 'Robot.Cart.Rounds', type: 'unknown', message: '2 != 3', function: 'Rounds' },
  },
  {
    format: testng,
    file: 'testng-7.10.xml',
    tests: 17,
    executions: 18,
    failed: {
      name: 'shop.CartTest.ships',
      type: 'java.lang.AssertionError',
      message: 'never ships',
      function: 'ships',
    },
  },
  {
    format: ctrf,
    file: 'pytest-9.2.json',
    tests: 10,
    executions: 10,
    failed: {
      name: 'test_cart.py::test_depot',
      type: 'OSError',
      message: 'no depot',
      function: 'test_cart.py::test_depot',
    },
  },
  {
    format: allure,
    file: 'allure-pytest-2.16.zip',
    tests: 10,
    executions: 10,
    failed: { name: 'test_cart#test_depot', type: 'OSError', message: 'no depot', function: 'test_depot' },
  },
];

describe.each(SAMPLES)('a $format.name report', ({ format, file, tests, executions, failed }) => {
  const store = async (base: string, query: Record<string, string> = {}): Promise<Receipt> => {
    const url = await uploads.report(format, base, await fixtureBytes(`${format.name}/${file}`), query);
    await uploads.driver.settle();
    return uploads.app.get<Receipt>(url);
  };

  test('is stored, is found by its tests, and shows why one failed', async () => {
    const { base } = uploads.repository();
    expect(await store(base)).toMatchObject({ status: 'stored', accepted: executions, duplicate: 0, rejected: 0 });
    const all = await uploads.app.get<Found>(`${base}/search/tests?test_name=*&per_page=100`);
    expect(all.tests).toHaveLength(tests);

    const [found] = all.tests.filter(({ test_name }) => test_name === failed.name);
    const address = `${base}/tests/${found?.test_id}`;
    expect(await uploads.app.get(address)).toMatchObject({
      last_conclusion: 'failed',
      test_function_name: failed.function,
    });
    const window = 'start=2026-11-21T00:00:00Z&end=2026-11-22T00:00:00Z';
    const { failures } = await uploads.app.get<{ failures: { failure_id: string }[] }>(`${address}/failures?${window}`);
    expect(failures).toMatchObject([{ exception_type: failed.type, exception_message: failed.message }]);
  });

  test('counts once however often it is sent, and again in another attempt', async () => {
    const { base } = uploads.repository();
    const report = { report: 'shard-1' };
    expect(await store(base, report)).toMatchObject({ accepted: executions, duplicate: 0 });
    expect(await store(base, report)).toMatchObject({ accepted: 0, duplicate: executions });
    const others = [{ report: 'shard-2' }, { ...report, run_attempt: '2' }];
    for (const receipt of await Promise.all(others.map((other) => store(base, other))))
      expect(receipt).toMatchObject({ accepted: executions, duplicate: 0 });
  });
});

test('the shards of a Playwright run count together, even under one report name', async () => {
  const { base } = uploads.repository();
  for (const file of ['shard-1-of-2.json', 'shard-2-of-2.json', 'shard-2-of-2.json'])
    await uploads.report(playwright, base, await fixtureBytes(`playwright/${file}`), { report: 'results.json' });
  await uploads.driver.settle();
  const all = await uploads.app.get<Found>(`${base}/search/tests?test_name=*&per_page=100`);
  expect(all.tests).toHaveLength(10);
});

test('the attempts of a test are one execution, which counts once however often the report is sent', async () => {
  const { base } = uploads.repository();
  const body = await fixtureBytes('junit/pytest-9.2-reruns.xml');
  const store = async (): Promise<Receipt> => {
    const url = await uploads.report(junit, base, body, { report: 'unit.xml' });
    await uploads.driver.settle();
    return uploads.app.get<Receipt>(url);
  };
  expect(await store()).toMatchObject({ accepted: 20, duplicate: 0, rejected: 0, warnings: [] });
  expect(await store()).toMatchObject({ accepted: 0, duplicate: 20 });
  const { tests } = await uploads.app.get<Found>(`${base}/search/tests?test_name=*test_ships`);
  const address = `${base}/tests/${tests[0]?.test_id}`;
  expect(await uploads.app.get(address)).toMatchObject({ last_conclusion: 'failed' });
  const window = 'start=2026-11-20T00:00:00Z&end=2026-11-23T00:00:00Z';
  expect(await uploads.app.get(`${address}/stats/failure_count?${window}`)).toMatchObject({ value: 1 });
  expect(await uploads.app.get(`${address}/stats/success_count?${window}`)).toMatchObject({ value: 0 });
});
