/**
 * Backup and restore as docs/operations.md describes them: a copy of a stopped service's folder, and ClickHouse's
 * statements.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT, runCommand, ServiceProcess } from '../support/service-process.ts';
import { storedReceipt } from '../support/stored-receipt.ts';

const SHOP = '/v1/ci/acme/repositories/shop';
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'ci-insights-backup-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Uploads a report and returns its receipt once it is stored. */
async function upload(service: ServiceProcess, runId: number): Promise<{ accepted: number; duplicate: number }> {
  const cases = ['a', 'b', 'c'].map((name) => `<testcase classname="k" name="${name}" time="1"/>`).join('');
  const sent = await service.request(
    `${SHOP}/junit?pipeline_name=CI&job_name=unit&run_id=${runId}&branch=main&commit=c${runId}`,
    { method: 'POST', body: `<testsuite>${cases}</testsuite>` },
  );
  expect(sent.status).toBe(202);
  const { id } = (await sent.json()) as { id: string };
  return storedReceipt(() => service.request(`${SHOP}/uploads/${id}`));
}

const copy = (from: string, to: string): void => {
  expect(Bun.spawnSync(['cp', '-a', from, to]).exitCode).toBe(0);
};

test('a folder that is copied while stopped, lost and restored has everything of that moment, and counts it once', async () => {
  const data = join(folder, 'data');
  const backup = join(folder, 'backup');
  const service = ServiceProcess.onFolder(data);
  await service.start();
  await upload(service, 1);
  await service.request(`${SHOP}/quarantines`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ test_name: 'k.a', reason: 'before the backup' }),
  });
  expect(await service.stop()).toBe(0);
  copy(data, backup);

  await service.start();
  await upload(service, 2);
  expect(await service.stop()).toBe(0);
  rmSync(data, { recursive: true });
  copy(backup, data);

  const verified = runCommand(data, 'verify');
  expect(verified.out).toContain('All derived tables agree with 3 executions.');
  expect(verified.code).toBe(0);

  await service.start();
  // The contents of the backup are known; what came after it is accepted as new.
  expect(await upload(service, 1)).toMatchObject({ accepted: 0, duplicate: 3 });
  expect(await upload(service, 2)).toMatchObject({ accepted: 3, duplicate: 0 });
  const list = (await (await service.request(`${SHOP}/quarantines`)).json()) as { quarantined_tests?: unknown[] };
  expect(JSON.stringify(list)).toContain('before the backup');
  expect(await service.stop()).toBe(0);
  expect(runCommand(data, 'verify').out).toContain('All derived tables agree with 6 executions.');
});

/** The ClickHouse statements in docs/operations.md: those of the backup, and those of the restore. */
function documentedStatements(): string[][] {
  const text = readFileSync(join(ROOT, 'docs/operations.md'), 'utf8').replaceAll("'\\''", "'");
  return [...text.matchAll(/^docker compose exec -T clickhouse sh -c '(.*?)'$/gms)].map(([, command = '']) =>
    [...command.matchAll(/--query "([^"]+)"/g)].map(([, statement = '']) => statement),
  );
}

test('the documented BACKUP and RESTORE of ClickHouse restore a state that agrees with PostgreSQL of that moment', async () => {
  const data = join(folder, 'statements');
  const backups = join(folder, 'backups');
  mkdirSync(backups);
  const allowed = readFileSync(join(ROOT, 'docs/clickhouse-backups.xml'), 'utf8');
  writeFileSync(join(folder, 'config.xml'), allowed.replace('/var/lib/clickhouse/backups/', `${backups}/`));
  const run = (statements: readonly string[]): void => {
    const script = join(ROOT, 'tests/support/clickhouse-statements.ts');
    const command = [process.execPath, script, join(data, 'clickhouse'), ...statements];
    const { exitCode, stderr } = Bun.spawnSync(command, { cwd: folder });
    expect([exitCode, stderr.toString()]).toEqual([0, '']);
  };
  const [backup = [], restore = []] = documentedStatements();
  expect([backup.length, restore.length]).toEqual([1, 2]);

  const service = ServiceProcess.onFolder(data);
  await service.start();
  await upload(service, 1);
  expect(await service.stop()).toBe(0);
  run(backup);
  run(restore);
  const verified = runCommand(data, 'verify');
  expect(verified.out).toContain('All derived tables agree with 3 executions.');

  await service.start();
  expect(await upload(service, 1)).toMatchObject({ accepted: 0, duplicate: 3 });
  expect(await upload(service, 2)).toMatchObject({ accepted: 3, duplicate: 0 });
  expect(await service.stop()).toBe(0);
  expect(runCommand(data, 'verify').out).toContain('All derived tables agree with 6 executions.');
});
