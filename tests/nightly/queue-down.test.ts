/**
 * When the queue's store is down, every upload of an unmodified client is accepted in the end or counted as possibly lost: none
 * is acknowledged and lost, none is lost silently.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { REPORT } from '../clients/support/cart-report.ts';
import { jobEnvironment } from '../clients/support/job.ts';
import { pythonEnvironment } from '../clients/support/python.ts';
import { run } from '../clients/support/run.ts';
import { ClientService, freshRepository } from '../clients/support/service.ts';
import { until } from '../support/patience.ts';
import { hasRedis, startRedis, type TestRedis } from '../support/redis.ts';

/** How clients report that an upload was refused. */
const SAYS_SO = /Error uploading spans|HTTP 503|code: 503/;

interface Client {
  name: string;
  repository: string;
  command: string[];
  /** Tests of the upload. */
  tests: number;
  /** Retries for half a minute. Of the others one retries for ten seconds, and mergify-cli 2026.10.3 not at all. */
  isPatient: boolean;
}

const [newest, older] = hasRedis
  ? await Promise.all([pythonEnvironment('newest'), pythonEnvironment('older')])
  : [undefined, undefined];
let redis: TestRedis;
let service: ClientService;
let folder: string;
beforeAll(async () => {
  if (!newest || !older) return;
  folder = mkdtempSync(join(tmpdir(), 'ci-insights-overload-'));
  writeFileSync(join(folder, 'test_one.py'), 'def test_passes(): pass\n');
  writeFileSync(join(folder, 'unit.xml'), REPORT);
  redis = await startRedis();
  service = await ClientService.start({ REDIS_URL: redis.url });
});
afterAll(async () => {
  await service?.stop();
  await redis?.stop();
  if (folder) rmSync(folder, { recursive: true, force: true });
});

const clients = (): Client[] =>
  [newest, older].flatMap((python) => {
    const program = (name: string): string => join(python?.bin ?? '', name);
    const target = python === older ? ['--tests-target-branch', 'main'] : [];
    return [
      {
        name: `pytest-mergify ${python === newest ? '2026.10.3' : '2026.9.24.1'}`,
        repository: freshRepository('overload'),
        command: [program('pytest'), '-p', 'no:cacheprovider', '-q', 'test_one.py'],
        tests: 1,
        isPatient: true,
      },
      {
        name: `mergify-cli ${python === newest ? '2026.10.3' : '2025.10.17.1'}`,
        repository: freshRepository('overload'),
        command: [program('mergify'), 'ci', 'junit-process', ...target, 'unit.xml'],
        tests: 4,
        isPatient: false,
      },
    ];
  });

const refusals = (repository: string): number =>
  service.logged.filter((line) => line.includes('may be lost') && line.includes(`"name":"${repository}"`)).length;

const possiblyLost = async (): Promise<number> => {
  const text = await (await service.fetch('/metrics')).text();
  return Number(/^ci_insights_uploads_possibly_lost_total\{kind="upload"\} (\d+)$/m.exec(text)?.[1] ?? 0);
};

const start = (client: Client) =>
  run(client.command, { cwd: folder, env: jobEnvironment(service, { repository: client.repository }) });

describe.skipIf(!newest || !older)('while the queue is down', () => {
  test('for seconds, every client is refused; its whole upload is stored in the end, or it reports the loss', async () => {
    const before = await possiblyLost();
    await redis.down();
    const all = clients();
    const runs = all.map(start);
    const isRefused = ({ repository }: Client): boolean => refusals(repository) > 0;
    await until(() => all.every(isRefused));
    await redis.up();
    const ended = await Promise.all(runs);
    for (const [i, { repository, tests, isPatient }] of all.entries()) {
      // If the others were slow to start, it may have given up by then, and reported it.
      if (!isPatient && SAYS_SO.test(ended[i]?.printed ?? '')) continue;
      const path = `/v1/ci/acme/repositories/${repository}/search/tests?test_name=*`;
      await service.until<{ size: number }>(path, ({ size }) => size === tests);
    }
    expect(await possiblyLost()).toBe(before + all.reduce((sum, { repository }) => sum + refusals(repository), 0));
  });

  test('for longer than they retry, they report it, and each upload is counted as possibly lost', async () => {
    const before = await possiblyLost();
    await redis.down();
    // Half a minute passes before the most patient give up.
    const all = clients();
    const ended = await Promise.all(all.map(start));
    await redis.up();
    ended.forEach(({ printed }, i) => {
      expect([all[i]?.name, printed]).toEqual([all[i]?.name, expect.stringMatching(SAYS_SO)]);
    });
    expect(all.filter(({ repository }) => refusals(repository) === 0).map(({ name }) => name)).toEqual([]);
    expect(await possiblyLost()).toBe(before + all.reduce((sum, { repository }) => sum + refusals(repository), 0));
  });
});
