/** Every column of an execution reaches ClickHouse: one that is forgotten on the way would silently be a default. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { v7 as uuid7 } from 'uuid';
import type { Run } from '../../src/domain/columns.ts';
import { UploadCollector } from '../../src/formats/collect.ts';
import type { ParsedExecution } from '../../src/formats/upload.ts';
import { chunksOf } from '../../src/ingest/chunks.ts';
import { valuesOf } from '../../src/ledger/block.ts';
import { testRunsSchema } from '../../src/queue/test-runs.ts';
import { TEST_NOW } from '../support/clock.ts';
import { IngestDriver } from '../support/ingest.ts';
import { prepareChunk } from '../support/prepare.ts';
import { openTestStores, type TestStores, uniqueRepository } from '../support/stores.ts';

/** No value in here is ClickHouse's default for a missing value. */
const run: Run = {
  pipeline_name: 'CI',
  job_name: 'unit',
  run_id: '17',
  run_attempt: 2,
  commit: 'c1',
  branch: 'main',
  base_ref: 'release',
  pull_request: 7,
  default_branch: 'main',
  framework: 'vitest',
  framework_version: '3.2.4',
  language: 'javascript',
  job_url: 'https://ci.example.com/runs/17',
  axes: { os: 'windows' },
  place: { runner: 'r7' },
};
const execution: ParsedExecution = {
  source: 'trace',
  key: 'span',
  name: 'sums > totals',
  status: 'failed',
  durationSeconds: 1.5,
  finishedAtMs: TEST_NOW - 1_000,
  filepath: 'src/sums.test.ts',
  function: 'totals',
  isFlaky: true,
  isQuarantined: true,
  isRetried: true,
  historyId: 'h1',
  failures: [
    {
      attempt: 3,
      type: 'Error',
      message: 'no',
      stacktrace: 'at sums.test.ts:1',
      attachments: [{ kind: 'log', name: 'server', url: 'https://files.example.com/server.log' }],
    },
  ],
};
/** A time in the future is replaced; a run for a pull request is not on the default branch. */
const variants = [
  { run, execution },
  {
    run: { ...run, base_ref: null, pull_request: null, is_confined: true },
    execution: { ...execution, finishedAtMs: TEST_NOW + 3_600_000 },
  },
];

let stores: TestStores;
let driver: IngestDriver;
let repositoryId: string;

function jobsOf(repository: { host: string; owner: string; name: string }) {
  return variants.flatMap((variant, i) => {
    const collector = new UploadCollector();
    collector.add(collector.run(variant.run), { ...variant.execution, source: `trace ${i}` });
    return chunksOf(collector.finish(), { uploadId: uuid7(), repository, receivedAt: new Date(TEST_NOW) });
  });
}

beforeAll(async () => {
  stores = await openTestStores();
  stores.clock.set(TEST_NOW);
  driver = new IngestDriver(stores);
  const repository = uniqueRepository();
  await driver.ingest(...jobsOf(repository));
  const found = await stores.repositories.find(repository.owner, repository.name);
  repositoryId = found?.id ?? '';
});
afterAll(async () => {
  await driver.verify();
  await driver.stop();
});

test('a line of the insert has every column of ci.ingest, and no other', async () => {
  const [job] = jobsOf(uniqueRepository());
  const options = { repositoryId: crypto.randomUUID(), defaultBranch: 'main', now: TEST_NOW, retentionDays: 90 };
  const chunk = prepareChunk(testRunsSchema.parse(job), options);
  const rows = await stores.clickhouse.rows(
    "SELECT name FROM system.columns WHERE database = 'ci' AND table = 'ingest' ORDER BY name",
  );
  const names = rows.map((row) => (row as { name: string }).name);
  expect(Object.keys(JSON.parse(JSON.stringify(valuesOf(chunk, chunk.executions))) as object).sort()).toEqual(names);
});

test.each(['executions', 'failures'])('no column of ci.%s is left at its default', async (table) => {
  const rows = (await stores.clickhouse.rows(`SELECT * FROM ci.${table} WHERE repository_id = {id: UUID}`, {
    id: repositoryId,
  })) as Record<string, unknown>[];
  expect(rows).toHaveLength(variants.length);
  const isDefault = (value: unknown): boolean =>
    value === '' || value === 0 || value === false || String(value).startsWith('1970-01-01');
  const empty = Object.keys(rows[0] ?? {}).filter((column) => rows.every((row) => isDefault(row[column])));
  expect(empty).toEqual([]);
});
