/** A service that is killed in the middle of an import from the page, and starts again on its folder. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { rmSync } from 'node:fs';
import { DAY_MS } from '../../src/domain/time.ts';
import type { RepositoryImportState } from '../../src/imports/routes.ts';
import { makeFolder } from '../support/folder.ts';
import { freePort } from '../support/free-port.ts';
import { FakeGithub } from '../support/github-actions.ts';
import { pastOf } from '../support/past.ts';
import { until } from '../support/patience.ts';
import { ServiceProcess } from '../support/service-process.ts';

const BASE = '/v1/ci/acme/repositories/shop';
/** The command counts days by the clock of the machine. */
const NOW = Math.floor(Date.now() / DAY_MS) * DAY_MS;
const TESTS = 24;
const reports = pastOf({ seed: 9, until: NOW - DAY_MS, days: 4, tests: TESTS });
let folder: string;
let github: FakeGithub;
let service: ServiceProcess;
beforeAll(async () => {
  folder = makeFolder('import-killed');
  github = new FakeGithub('acme/shop', reports);
  service = ServiceProcess.onFolder(folder, {
    PORT: String(await freePort()),
    HOSTS: `github=github:${github.url}`,
  });
  await service.start();
});
afterAll(async () => {
  await service?.stop();
  await github.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function ask<T>(path: string): Promise<T> {
  const response = await service.request(path);
  if (response.status !== 200) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as T;
}
const start = (since: string | null) =>
  service.request(`${BASE}/import`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ host: 'github', token: 'gh-token', since }),
  });

const untilImport = (isThere: (found: RepositoryImportState['import']) => boolean) =>
  until(async () => (await ask<RepositoryImportState>(`${BASE}/import`)).import, isThere, 100);

/** Executions in all runs, as the page of the runs counts them. */
async function storedExecutions(): Promise<number> {
  const { runs } = await ask<{ runs: { passed: number; failed: number; skipped: number }[] }>(
    `${BASE}/runs?per_page=100`,
  );
  return runs.reduce((sum, { passed, failed, skipped }) => sum + passed + failed + skipped, 0);
}

test('it is interrupted with what was taken, continues with the token, and everything is stored exactly once', async () => {
  const [held] = github.runs.toSorted((one, other) => one.createdAt - other.createdAt)[10]?.artifacts ?? [];
  github.trouble.push({
    part: `/actions/artifacts/${held?.id}/`,
    // It is being downloaded when the service is killed.
    answer: () => new Response(new ReadableStream()),
  });
  expect((await start(new Date(NOW - 10 * DAY_MS).toISOString())).status).toBe(202);
  const running = await untilImport(
    (found) => found?.status !== 'running' || (found.progress.executions > 0 && github.trouble.length === 0),
  );
  expect(running).toMatchObject({ status: 'running', failure: null });
  await service.kill();
  await service.start();
  const asked = github.asked.length;
  // No process imports any more: the token is gone.
  const interrupted = await untilImport((found) => found?.status === 'interrupted');
  expect(interrupted).toMatchObject({ id: running?.id, receipt: null, finished_at: null });
  expect(interrupted?.progress.executions).toBeGreaterThanOrEqual(running?.progress.executions ?? 0);
  expect(github.asked.slice(asked)).toEqual([]);
  expect((await start(null)).status).toBe(202);
  const done = await untilImport((found) => found?.status !== 'running');
  expect(done).toMatchObject({ id: running?.id, status: 'finished', failure: null });
  expect(await storedExecutions()).toBe(reports.length * TESTS);
});
