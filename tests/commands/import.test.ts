/** `import folder` as a process: what it refuses, what its receipt says, and that a kill loses and doubles nothing. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { ImportProgress } from '../../src/client/import/progress.ts';
import { ReceiptTally } from '../../src/client/import/receipt.ts';
import { DAY_MS } from '../../src/domain/time.ts';
import { TEST_NOW } from '../support/clock.ts';
import { makeFolder } from '../support/folder.ts';
import { setUpIngest } from '../support/ingest.ts';
import { manifestLineOf, pastOf, writePast } from '../support/past.ts';
import { until } from '../support/patience.ts';
import { openServiceApp, type ServiceApp } from '../support/service-app.ts';
import { uniqueRepository } from '../support/stores.ts';
import { zipOf } from '../support/zip.ts';

const MAIN = resolve(import.meta.dir, '../../src/client/package-main.ts');
const folder = makeFolder('import-command');
const ingest = setUpIngest();
let app: ServiceApp;
beforeAll(async () => {
  app = await openServiceApp();
});
afterAll(async () => {
  await app.stop();
  rmSync(folder, { recursive: true, force: true });
});

const start = (args: readonly string[]) =>
  Bun.spawn([process.execPath, MAIN, 'import', ...args], {
    env: { PATH: process.env.PATH, CI_INSIGHTS_URL: `http://127.0.0.1:${app.port}`, CI_INSIGHTS_TOKEN: app.adminToken },
    stdout: 'pipe',
    stderr: 'pipe',
  });

async function run(args: readonly string[]) {
  const child = start(args);
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { out, err, code };
}

const lines = (path: string): string[] => {
  try {
    return readFileSync(path, 'utf8').trim().split('\n');
  } catch {
    return [];
  }
};

describe('import folder', () => {
  test('killed in the middle and started again, it loses and doubles nothing', async () => {
    const repository = uniqueRepository();
    ingest.driver.watch(repository);
    const reports = pastOf({ seed: 3, until: TEST_NOW - DAY_MS, days: 6 });
    const manifest = writePast(`${folder}/killed`, reports, 3);
    const receiptFile = `${folder}/receipt.json`;
    const args = [
      'folder',
      `${folder}/killed`,
      '--manifest',
      manifest,
      '--repo',
      `${repository.owner}/${repository.name}`,
    ];
    for (const done of [5, 20]) {
      const child = start(args);
      await until(() => lines(`${manifest}.state`).length >= done || child.exitCode !== null, Boolean, 5);
      child.kill('SIGKILL');
      await child.exited;
    }
    const { out, code, err } = await run([...args, '--receipt', receiptFile, '--json']);
    expect({ code, err: code === 0 ? '' : err }).toEqual({ code: 0, err: '' });
    const receipt = JSON.parse(out);
    expect(JSON.parse(readFileSync(receiptFile, 'utf8'))).toEqual(receipt);
    expect(receipt).toMatchObject({
      is_complete: true,
      reports: { stored: reports.length, queued: 0, left_out: 0 },
      first_arrived_at: new Date(reports[0]?.arrivedAt ?? 0).toISOString(),
      last_arrived_at: new Date(reports.at(-1)?.arrivedAt ?? 0).toISOString(),
    });
    const { accepted, duplicate } = receipt.executions;
    // What was in hand when it was killed may have been sent twice, and counts once.
    expect(accepted + duplicate).toBeGreaterThanOrEqual(24 * reports.length);
    const found = await ingest.stores.repositories.find(repository.owner, repository.name);
    const stored = await ingest.stores.clickhouse.rows(
      'SELECT count() AS executions FROM ci.executions WHERE repository_id = {id: UUID}',
      { id: found?.id ?? '' },
    );
    expect(stored).toEqual([{ executions: 24 * reports.length }]);
    await ingest.driver.verify();
  }, 180_000);

  test('what is no report is left out with the reason, and pull requests come along', async () => {
    const { owner, name } = uniqueRepository();
    const [report] = pastOf({ seed: 4, until: TEST_NOW - DAY_MS, days: 1 });
    if (!report) throw new Error('the past is empty');
    const own = `${folder}/mixed`;
    const manifest = writePast(own, [report], 4);
    writeFileSync(`${own}/notes.txt`, 'Dear diary');
    const line = (file: string) => JSON.stringify({ ...manifestLineOf(report), file });
    const pull = {
      number: 7,
      id: 1,
      title: 'Pay by card',
      author: { id: 5, login: 'octocat' },
      merge_commit: 'abc',
      updated_at: '2026-11-01T00:00:00Z',
    };
    writeFileSync(
      manifest,
      [
        readFileSync(manifest, 'utf8').trim(),
        line('notes.txt'),
        line('gone.xml'),
        JSON.stringify({ pull_request: pull }),
      ].join('\n'),
    );
    const { out, code } = await run(['folder', own, '--manifest', manifest, '--repo', `${owner}/${name}`, '--json']);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      reports: { stored: 1, left_out: 2 },
      pull_requests: 1,
      left_out: [
        { reason: expect.stringContaining('not a report'), count: 1, examples: ['notes.txt'] },
        { reason: 'there is no such file', count: 1, examples: ['gone.xml'] },
      ],
    });
    await ingest.driver.settle();
    expect(await app.get(`/v1/ci/${owner}/repositories/${name}/pulls/7`)).toMatchObject({
      user: { login: 'octocat' },
      merge_commit: 'abc',
    });
  }, 60_000);

  test.each([
    ['{"file":"a.xml"}', ':1: '],
    ['{"pull_request":{"number":0}}', ':1: '],
    ['nonsense', ':1 is no JSON'],
    ['', ' is empty'],
    [
      '{"file":"a","pipeline_name":"CI","job_name":"unit","run_id":"1","arrived_at":"2026-11-01T00:00:00Z","colour":"red"}',
      'colour',
    ],
  ])('a manifest with %j is refused before anything is sent', async (text, sentence) => {
    const manifest = `${folder}/wrong.jsonl`;
    writeFileSync(manifest, text);
    const { err, code } = await run(['folder', folder, '--manifest', manifest, '--repo', 'acme/shop']);
    expect(code).toBe(1);
    expect(err).toContain(sentence);
  });

  test('the state of another import is refused', async () => {
    const [report] = pastOf({ seed: 5, until: TEST_NOW - DAY_MS, days: 1 });
    if (!report) throw new Error('the past is empty');
    const manifest = writePast(`${folder}/other`, [report], 5);
    writeFileSync(`${manifest}.state`, '{"v":1,"service":"http://elsewhere","repository":"acme/shop","source":"x"}\n');
    const { err, code } = await run(['folder', folder, '--manifest', manifest, '--repo', 'acme/shop']);
    expect(code).toBe(1);
    expect(err).toContain('is the state of another import');
  });
});

const EXPORTS = resolve(import.meta.dir, '../fixtures/exports');

describe('exports of other tools', () => {
  const NO_COMMIT = 'it does not say which commit it tested; name it with --commit';
  test.each([
    ['ctrf', 2, 4, ['it is not a CTRF report', NO_COMMIT]],
    ['allure', 1, 2, []],
    ['reportportal', 1, 3, ['its items are not in the export']],
    ['buildkite', 2, 3, []],
  ])(
    '%s: what names its commit is taken, and the rest is told',
    async (tool, reports, executions, reasons) => {
      const repository = uniqueRepository();
      ingest.driver.watch(repository);
      const path = `${repository.owner}/${repository.name}`;
      const args = [tool, `${EXPORTS}/${tool}`, '--repo', path, '--state', `${folder}/${tool}.state`, '--json'];
      const { out, err, code } = await run(args);
      expect({ code, err: code === 0 ? '' : err }).toEqual({ code: 0, err: '' });
      const receipt = JSON.parse(out);
      expect(receipt).toMatchObject({
        is_complete: true,
        reports: { stored: reports, queued: 0, left_out: reasons.length },
        executions: { accepted: executions, rejected: 0 },
      });
      expect(receipt.left_out.map(({ reason }: { reason: string }) => reason).sort()).toEqual([...reasons].sort());
      const again = await run(args);
      expect(JSON.parse(again.out).executions).toEqual(receipt.executions);
      await ingest.driver.verify();
    },
    60_000,
  );

  test('a zip is read as its folder is, and options say what reports do not', async () => {
    const repository = uniqueRepository();
    ingest.driver.watch(repository);
    const report = readFileSync(`${EXPORTS}/ctrf/local/ctrf-report.json`);
    const zip = `${folder}/reports.zip`;
    writeFileSync(zip, zipOf([{ name: 'local/ctrf-report.json', content: report }]));
    const args = ['ctrf', zip, '--repo', `${repository.owner}/${repository.name}`, '--json'];
    const without = await run(args);
    expect(without.code).toBe(1);
    expect(without.err).toContain(`No report of ${zip} can be taken. local/ctrf-report.json: ${NO_COMMIT}.`);
    const { out } = await run([...args, '--commit', 'abc', '--branch', 'main', '--job', 'unit']);
    expect(JSON.parse(out).executions).toMatchObject({ accepted: 2 });
    await ingest.driver.settle();
    const { owner, name } = repository;
    const { tests } = await app.get<{ tests: { job_name: string }[] }>(
      `/v1/ci/${owner}/repositories/${name}/search/tests`,
    );
    expect(tests.map((one) => one.job_name)).toEqual(['unit', 'unit']);
  }, 60_000);

  test.each([
    ['gone', 'There is no file or folder'],
    ['allure', 'it holds no results of Buildkite Test Engine'],
    ['ctrf/local/none', 'There is no file or folder'],
  ])('%s is refused', async (path, sentence) => {
    const { err, code } = await run(['buildkite', `${EXPORTS}/${path}`, '--repo', 'acme/shop']);
    expect(code).toBe(1);
    expect(err).toContain(sentence);
  });
});

test('the estimate follows from how fast reports were stored', () => {
  let now = 0;
  const progress = new ImportProgress(false, () => now);
  const tally = new ReceiptTally();
  progress.begin(100, tally);
  const outcome = { accepted: 10, duplicate: 0, rejected: 0, conflicting: 0, rejections: [], warnings: [] };
  for (let i = 0; i < 25; i++) {
    tally.add({ key: String(i), upload: String(i), name: 'a', at: 0 });
    tally.add({ upload: String(i), outcome });
  }
  now = 10_000;
  expect(progress.sentence(tally)).toBe('25 of 100 reports sent, 250 executions stored, about 30 s left');
});
