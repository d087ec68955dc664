/**
 * `@mergifyio/vitest` 0.3.7, unmodified, in a real vitest run. Its native part needs Node 22 and glibc 2.38; on a machine with an
 * older one, recorded uploads of it are used instead.
 */
import { describe, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fixtureBytes } from '../support/parsing.ts';
import { jobEnvironment } from './support/job.ts';
import { packagesFolder } from './support/packages.ts';
import { run } from './support/run.ts';
import { freshRepository, sharedService } from './support/service.ts';

const GLIBC_MIN = 2.38;

/** Why the client cannot start here; undefined where it can. */
function whyNot(): string | undefined {
  if (process.platform === 'darwin') return undefined;
  if (process.platform !== 'linux') return `there is no Node for ${process.platform} in the tests`;
  const printed = Bun.spawnSync(['getconf', 'GNU_LIBC_VERSION']).stdout.toString();
  const version = Number(/glibc (\d+\.\d+)/.exec(printed)?.[1] ?? 0);
  return version >= GLIBC_MIN
    ? undefined
    : `it needs glibc ${GLIBC_MIN}, and this machine has ${printed.trim() || 'none'}`;
}

const NODE = `node-${process.platform === 'darwin' ? 'darwin' : 'linux'}-${process.arch}`;
const PACKAGES = { [NODE]: '22.23.3', vitest: '4.1.12', '@mergifyio/vitest': '0.3.7' };

const reason = whyNot();
if (reason !== undefined)
  console.error(`@mergifyio/vitest 0.3.7 does not run here: ${reason}. Its recorded uploads are used instead.`);
const folder = reason === undefined ? await packagesFolder(PACKAGES) : undefined;

interface Found {
  tests: { test_id: string; test_name: string; pipeline_name: string; job_name: string }[];
}
interface Details {
  health_status: string;
  last_conclusion: string;
  test_framework: string;
}

const CONFIG = `
import { defineConfig } from 'vitest/config';
import MergifyReporter from '@mergifyio/vitest';
export default defineConfig({ test: { reporters: ['default', new MergifyReporter()] } });
`;
const SUITE = `
import { describe, expect, test } from 'vitest';
describe('Cart', () => {
  test('adds an item', () => {});
  test('sums [a, b] with 10% tax', () => expect(41).toBe(42));
  test('rejects *negative* amounts?', () => { throw new TypeError('-5 is negative'); });
  test.skip('prints a receipt', () => {});
});
`;

/** Also to the job that runs: the plugin does not say which that is. */
const NARROWED = [{ failure_ids: [crypto.randomUUID()] }, { job_name: 'unit' }, { pipeline_name: 'CI' }];

async function conclusionsOf(repository: string, count: number): Promise<Record<string, Details>> {
  const service = await sharedService();
  const base = `/v1/ci/acme/repositories/${repository}`;
  const { tests } = await service.until<Found>(
    `${base}/search/tests?test_name=*`,
    (found) => found.tests.length === count,
  );
  const details = tests.map(async ({ test_id, test_name }) => [
    test_name,
    await service.get(`${base}/tests/${test_id}`),
  ]);
  return Object.fromEntries(await Promise.all(details));
}

// Either the client is tested or what it once sent, so that nothing is left out.
const describeClient = reason === undefined ? describe.skipIf(folder === undefined) : undefined;
describeClient?.('@mergifyio/vitest', () => {
  test('a run arrives complete, a quarantined failure does not fail it, and insights count that failure', async () => {
    const repository = freshRepository('vitest');
    const service = await sharedService();
    const cwd = folder ?? '';
    writeFileSync(join(cwd, 'vitest.config.ts'), CONFIG);
    writeFileSync(join(cwd, 'cart.test.ts'), SUITE);
    const node = join(cwd, 'node_modules', NODE, 'bin/node');
    const vitest = () =>
      run([node, join(cwd, 'node_modules/vitest/vitest.mjs'), 'run'], {
        cwd,
        env: jobEnvironment(service, { repository }),
      });
    await service.quarantine(repository, 'Cart > rejects *negative* amounts?');
    const failed = await vitest();
    expect([failed.code, failed.printed]).toEqual([1, expect.stringContaining('sums [a, b] with 10% tax')]);
    expect(await conclusionsOf(repository, 4)).toMatchObject({
      'Cart > adds an item': { last_conclusion: 'passed', test_framework: 'vitest' },
      'Cart > sums [a, b] with 10% tax': { last_conclusion: 'failed' },
      'Cart > rejects *negative* amounts?': { last_conclusion: 'failed' },
      'Cart > prints a receipt': { last_conclusion: 'skipped' },
    });
    await service.quarantine(repository, 'Cart > sums [a, b] with 10% tax');
    expect((await vitest()).code).toBe(0);
  });

  test('a quarantine that is narrowed, which the plugin cannot know, excuses nothing', async () => {
    const repository = freshRepository('vitest');
    const service = await sharedService();
    const cwd = folder ?? '';
    writeFileSync(join(cwd, 'vitest.config.ts'), CONFIG);
    writeFileSync(join(cwd, 'cart.test.ts'), SUITE);
    const names = ['Cart > rejects *negative* amounts?', 'Cart > sums [a, b] with 10% tax'];
    for (const name of names)
      for (const scope of NARROWED) await service.quarantine(repository, name, { branch: 'main', ...scope });
    const node = join(cwd, 'node_modules', NODE, 'bin/node');
    const ran = await run([node, join(cwd, 'node_modules/vitest/vitest.mjs'), 'run'], {
      cwd,
      env: jobEnvironment(service, { repository }),
    });
    expect([ran.code, ran.printed]).toEqual([1, expect.stringContaining('2 failed')]);
  });
});

const describeRecorded = reason === undefined ? undefined : describe;
describeRecorded?.('recorded uploads of @mergifyio/vitest', () => {
  const DAY = 'start=2026-11-21T00:00:00Z&end=2026-11-22T00:00:00Z';

  test('the names that it asks for, by branch alone, hold none whose quarantine is narrowed', async () => {
    const repository = freshRepository('vitest');
    const service = await sharedService();
    for (const scope of NARROWED)
      await service.quarantine(repository, 'Cart > rejects *negative* amounts?', { branch: 'main', ...scope });
    await service.quarantine(repository, 'Cart > adds an item', { branch: 'main' });
    const path = `/v1/ci/acme/repositories/${repository}/quarantines?branch=main&per_page=100`;
    const { quarantined_tests: listed } = await service.get<{ quarantined_tests: { test_name: string }[] }>(path);
    expect(listed.map(({ test_name }) => test_name)).toEqual(['Cart > adds an item']);
  });

  test('arrive on both paths, in chunks, and count once when resent', async () => {
    const repository = freshRepository('vitest');
    const service = await sharedService();
    const paths = [`/v1/ci/acme/repositories/${repository}/traces`, `//v1/repos/acme/${repository}/ci/traces`];
    const headers = { 'content-type': 'application/x-protobuf', 'content-encoding': 'gzip' };
    const send = async (path: string, bytes: Uint8Array<ArrayBuffer>): Promise<string> => {
      // A stream has no length, so it is sent in chunks.
      const body = new ReadableStream({
        start: (controller) => {
          for (let at = 0; at < bytes.length; at += 500) controller.enqueue(bytes.slice(at, at + 500));
          controller.close();
        },
      });
      const response = await service.fetch(path, { method: 'POST', headers, body });
      expect([path, response.status]).toEqual([path, 200]);
      return response.headers.get('x-upload-id') ?? '';
    };
    const names = ['main-run1001-attempt1', 'main-run1001-attempt2', 'main-run1002', 'pull7-run1003'];
    const uploads = await Promise.all(names.map((name) => fixtureBytes(`otlp/${name}.pb.gz`)));
    const ids: string[] = [];
    for (const path of paths) for (const upload of uploads) ids.push(await send(path, upload));
    const empty = await service.fetch(paths[0] ?? '', {
      method: 'POST',
      headers: { 'content-type': headers['content-type'] },
    });
    expect(empty.status).toBe(200);

    const base = `/v1/ci/acme/repositories/${repository}`;
    for (const id of ids)
      await service.until<{ status: string }>(`${base}/uploads/${id}`, ({ status }) => status === 'stored');
    const { tests } = await service.until<Found>(
      `${base}/search/tests?test_name=*`,
      (found) => found.tests.length === 5,
    );
    for (const { test_id } of tests) {
      const path = `${base}/tests/${test_id}/executions?${DAY}`;
      const { executions } = await service.get<{ executions: { executions_count: number }[] }>(path);
      // Three runs on main; the pull request's are not on the default branch.
      expect(executions).toMatchObject([{ executions_count: 3, pipeline_name: 'CI', job_name: 'unit' }]);
    }
    expect(await conclusionsOf(repository, 5)).toMatchObject({
      'Cart > adds an item': { last_conclusion: 'passed', test_framework: 'vitest' },
      'Cart > prints a receipt': { last_conclusion: 'skipped' },
      'root level works': { last_conclusion: 'passed' },
    });
  });
});
