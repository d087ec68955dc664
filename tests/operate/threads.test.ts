/** The service has enough threads for the embedded ClickHouse, however it is started. */
import { describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { CLI, ROOT } from '../support/service-process.ts';

const PRELOAD = join(ROOT, 'tests/support/count-threads.ts');

async function started(command: string, environment: Record<string, string>) {
  const child = Bun.spawn([process.execPath, '--preload', PRELOAD, CLI, command], {
    env: { GIVEN: 'kept', ...environment },
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  expect(stderr).toBe('');
  return { ...(JSON.parse(stdout) as Record<string, unknown>), isSame: JSON.parse(stdout).pid === child.pid };
}

describe.skipIf(process.platform !== 'linux')('the service', () => {
  const SERVERS = { DATABASE_URL: 'postgresql://127.0.0.1/none', CLICKHOUSE_URL: 'http://127.0.0.1:1' };

  test.each([
    ['serve', {}, 12],
    ['serve', { UV_THREADPOOL_SIZE: '' }, 12],
    ['serve', { UV_THREADPOOL_SIZE: '5' }, 5],
    ['worker', SERVERS, 12],
  ])(
    '%s with %o has %i threads, as the same process and with the same environment',
    async (command, environment, threads) => {
      const found = await started(command, environment);
      expect(found).toMatchObject({ isSame: true, threads, given: 'kept' });
    },
  );
});
