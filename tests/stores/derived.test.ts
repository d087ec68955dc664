/** A materialized view puts into its table what the table's definition in `sql/derived` gives. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { scopeOf } from '../../src/clickhouse/scope.ts';
import { derived } from '../../src/maintenance/derived.ts';
import { TEST_NOW } from '../support/clock.ts';
import { setUpIngest } from '../support/ingest.ts';
import { makeJob } from '../support/jobs.ts';
import { uniqueRepository } from '../support/stores.ts';

const DAY = 86_400_000;
const ingest = setUpIngest();

const execution = fc.record({
  name: fc.constantFrom('a', 'b', 'c'),
  status: fc.constantFrom('passed' as const, 'failed' as const, 'skipped' as const),
  // Two months, and several days of each.
  at: fc.integer({ min: 0, max: 40 }).map((days) => TEST_NOW - days * DAY),
  isFlaky: fc.boolean(),
});
const upload = fc.record({
  executions: fc.array(execution, { minLength: 1, maxLength: 20 }),
  run: fc.record({
    job_name: fc.constantFrom('unit', 'e2e'),
    run_id: fc.constantFrom('1', '2'),
    run_attempt: fc.integer({ min: 1, max: 2 }),
    commit: fc.constantFrom('c1', 'c2'),
    branch: fc.constantFrom('main', 'main', 'feature'),
  }),
});

/** The stored table: rows of one key merged. */
const stored = (table: keyof typeof derived): string =>
  `SELECT * FROM ci.${table} FINAL WHERE repository_id = {repository_id: UUID}`;

const sorted = (rows: unknown[]): string[] =>
  rows
    .map((row) => JSON.stringify(Object.entries(row as object).map(([name, value]) => [name, valuesOf(value)])))
    .sort();
/** A tuple with names is an object, one without is an array. */
const valuesOf = (value: unknown): unknown =>
  // A set has no order.
  Array.isArray(value)
    ? value.map((one) => JSON.stringify(valuesOf(one))).sort()
    : typeof value === 'object' && value !== null
      ? Object.values(value)
      : value;

describe('derived tables', () => {
  const tables = Object.keys(derived) as (keyof typeof derived)[];

  test('contain what their definitions give, whatever was ingested and in whatever parts', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(upload, { minLength: 1, maxLength: 6 }), async (uploads) => {
        const repository = uniqueRepository();
        await ingest.driver.ingest(
          ...uploads.map((one) => makeJob({ repository, receivedAt: TEST_NOW, ...one })),
          // One branch at least is the default branch.
          makeJob({ repository, receivedAt: TEST_NOW, executions: [{ name: 'a' }], run: { default_branch: 'main' } }),
        );
        const { id = '' } = (await ingest.stores.repositories.find(repository.owner, repository.name)) ?? {};
        for (const table of tables) {
          const { sql, params } = derived[table](scopeOf(id));
          const given = `SELECT * FROM (${sql}) WHERE repository_id = {repository_id: UUID}`;
          const of = { ...params, repository_id: id };
          expect(sorted(await ingest.stores.clickhouse.rows(stored(table), { repository_id: id }))).toEqual(
            sorted(await ingest.stores.clickhouse.rows(given, of)),
          );
        }
      }),
      { numRuns: 4 },
    );
  });

  test.each(tables)('the columns of ci.%s are those of its definition, in order', async (table) => {
    const { sql, params } = derived[table](scopeOf());
    const describe = async (statement: string, given = {}) =>
      ((await ingest.stores.clickhouse.rows(`DESCRIBE ${statement}`, given)) as { name: string }[]).map(
        ({ name }) => name,
      );
    expect(await describe(`(${sql})`, params)).toEqual(await describe(`TABLE ci.${table}`));
  });
});
