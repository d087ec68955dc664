/** A power loss leaves some parts of an insert. However it looks, the repair completes it. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { Ledger } from '../../src/ledger/ledger.ts';
import { DERIVED, RAW, repairBlocks } from '../../src/ledger/repair.ts';
import { TEST_NOW } from '../support/clock.ts';
import { setUpIngest } from '../support/ingest.ts';
import { makeJob, type TestExecution } from '../support/jobs.ts';
import { prepareChunk } from '../support/prepare.ts';
import { uniqueRepository } from '../support/stores.ts';

const MONTH_MS = 31 * 86_400_000;
const TABLES = [...RAW, ...DERIVED].map(({ table }) => table);
/** The months of the executions; a table that knows no months has one part. */
const MONTHS = [TEST_NOW, TEST_NOW - MONTH_MS].map((at) => new Date(at).toISOString().slice(0, 7).replace('-', ''));
const MONTH_OF: Record<string, string> = {
  executions: 'toYYYYMM(finished_at)',
  failures: 'toYYYYMM(failed_at)',
  runs: 'toYYYYMM(day)',
  commit_runs: 'toYYYYMM(day)',
};

const ingest = setUpIngest();

type Repository = ReturnType<typeof uniqueRepository>;

const executions = (count: number): TestExecution[] =>
  Array.from({ length: count }, (_, i) => ({
    name: `test ${i % 7}`,
    status: i % 5 === 0 ? ('failed' as const) : ('passed' as const),
    at: TEST_NOW - (i % 2) * MONTH_MS - i * 1_000,
    isFlaky: i % 11 === 0,
    // Two of an execution that nothing tells apart.
    failures:
      i % 5 === 0
        ? [
            { type: 'E', message: 'm', attempt: 1 },
            { type: 'E', message: 'm', attempt: 1 },
          ]
        : [],
  }));

const job = (repository: Repository, run: string, count: number) =>
  makeJob({ repository, executions: executions(count), run: { run_id: run }, receivedAt: TEST_NOW });

/** Writes a block down without inserting it, and returns its lines. */
async function writeDown(repository: Repository, run: string, count: number): Promise<string> {
  const recorded = await ingest.stores.repositories.record(repository);
  const options = { repositoryId: recorded.id, defaultBranch: 'main', now: TEST_NOW, retentionDays: 90 };
  let sent = '';
  const clickhouse = {
    ...ingest.stores.clickhouse,
    insert: async (_table: string, lines: string) => {
      sent = lines;
      throw new Error('no power');
    },
  };
  const ledger = new Ledger({ db: ingest.stores.postgres.db, clickhouse, clock: ingest.stores.clock });
  await expect(ledger.write([prepareChunk(job(repository, run, count), options)])).rejects.toThrow('no power');
  return sent;
}

/** Puts the parts of an insert where they would be, of some tables and months only. */
async function insertParts(lines: string, parts: readonly { table: string; month: string }[]): Promise<void> {
  const { clickhouse } = ingest.stores;
  await clickhouse.command('CREATE TABLE ci.half AS ci.ingest ENGINE = Memory');
  try {
    await clickhouse.insert('ci.half', lines, 'half');
    for (const { table, month } of parts) {
      const rows = await clickhouse.rows(
        "SELECT as_select FROM system.tables WHERE database = 'ci' AND name = {view: String}",
        { view: `ingest_to_${table}` },
      );
      const select = (rows[0] as { as_select: string }).as_select.replaceAll('ci.ingest', 'ci.half');
      const columns = (await clickhouse.rows(`DESCRIBE (${select})`)).map((row) => (row as { name: string }).name);
      await clickhouse.command(
        `INSERT INTO ci.${table} (${columns.join(', ')}) SETTINGS insert_deduplicate = 0
         SELECT * FROM (${select}) WHERE ${MONTH_OF[table]} = ${month}`,
      );
    }
  } finally {
    await clickhouse.command('DROP TABLE ci.half SYNC');
  }
}

const unfinished = () => ({
  clickhouse: ingest.stores.clickhouse,
  db: ingest.stores.postgres.db,
  log: ingest.stores.log,
});

test('whichever parts of two blocks are there, a repair makes each execution count once in every table', async () => {
  const parts = fc.subarray(TABLES.flatMap((table) => MONTHS.map((month) => ({ table, month }))));
  await fc.assert(
    fc.asyncProperty(parts, parts, async (first, second) => {
      const repository = uniqueRepository();
      await ingest.driver.ingest(job(repository, 'before', 20));
      await insertParts(await writeDown(repository, 'first', 30), first);
      await insertParts(await writeDown(repository, 'second', 25), second);
      await repairBlocks(unfinished());
      while ((await ingest.driver.sweeper.sweep(0)) > 0);
      const found = await ingest.stores.repositories.find(repository.owner, repository.name);
      const [row] = await ingest.stores.clickhouse.rows(
        'SELECT count() AS stored, uniqExact(execution_id) AS different FROM ci.executions WHERE repository_id = {id: UUID}',
        { id: found?.id ?? '' },
      );
      expect(row).toEqual({ stored: 75, different: 75 });
      await ingest.driver.verify();
    }),
    { numRuns: 2 },
  );
});

test('a block that is there as a whole, but not marked, is left as it is', async () => {
  const repository = uniqueRepository();
  await insertParts(
    await writeDown(repository, 'whole', 40),
    TABLES.flatMap((table) => MONTHS.map((month) => ({ table, month }))),
  );
  await repairBlocks(unfinished());
  while ((await ingest.driver.sweeper.sweep(0)) > 0);
  ingest.driver.watch(repository);
  await ingest.driver.verify();
});
