/** The service has the settings of the runtime, however it is started: threads, and when garbage is collected. */
import { describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { environmentWithSettings, memorySettings } from '../../src/runtime.ts';
import { CLI, ROOT } from '../support/service-process.ts';

const MEBIBYTE = 1024 ** 2;

async function printed(environment: Record<string, string>, ...args: string[]): Promise<{ pid: number; out: string }> {
  const child = Bun.spawn([process.execPath, ...args], { env: environment, stdout: 'pipe', stderr: 'pipe' });
  const [out, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  expect(stderr).toBe('');
  return { pid: child.pid, out };
}

async function started(command: string, environment: Record<string, string>) {
  const preload = join(ROOT, 'tests/support/runtime-settings.ts');
  const { pid, out } = await printed({ GIVEN: 'kept', ...environment }, '--preload', preload, CLI, command);
  const found = JSON.parse(out) as Record<string, unknown>;
  return { ...found, isSame: found.pid === pid };
}

describe.skipIf(process.platform !== 'linux')('the service', () => {
  const SERVERS = { DATABASE_URL: 'postgresql://127.0.0.1/none', CLICKHOUSE_URL: 'http://127.0.0.1:1' };
  const OTHER_BYTES = String(2_048 * MEBIBYTE);

  test.each([
    ['serve', {}, 12, 512],
    ['serve', { ROLE: 'api', ...SERVERS }, 12, 512],
    ['serve', { UV_THREADPOOL_SIZE: '', BUN_JSC_forceRAMSize: OTHER_BYTES }, 12, 2_048],
    ['serve', { UV_THREADPOOL_SIZE: '5' }, 5, 512],
    ['worker', SERVERS, 12, 576],
  ])(
    '%s with %o has %i threads and plans for %i MiB, as the same process and with the same environment',
    async (command, environment, threads, mebibytes) => {
      const found = await started(command, environment);
      expect(found).toMatchObject({ isSame: true, threads, plannedBytes: mebibytes * MEBIBYTE, given: 'kept' });
    },
  );

  test.each([
    ['api', 512],
    ['workers', 576],
  ] as const)('the process of the %s plans for %i MiB, unless the operator says otherwise', (kind, mebibytes) => {
    const planned = (environment: Record<string, string>) =>
      memorySettings(kind, environmentWithSettings('engine', environment)).BUN_JSC_forceRAMSize;
    expect(planned({})).toBe(String(mebibytes * MEBIBYTE));
    expect(planned({ BUN_JSC_forceRAMSize: OTHER_BYTES })).toBe(OTHER_BYTES);
  });
});
