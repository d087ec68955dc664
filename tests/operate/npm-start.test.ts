/** `npm start`, as supervisors run it: npm gets the signal, and the service must get it from npm. */
import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isRunning } from '../../src/processes.ts';
import { lockHolder } from '../../src/service-lock.ts';
import { until } from '../support/patience.ts';
import { ROOT } from '../support/service-process.ts';

test('a service that npm has started stops with it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'ci-insights-npm-'));
  const { PATH = '', HOME = '' } = process.env;
  // The installation comes before the start, and other tests use it meanwhile.
  const npm = Bun.spawn(['npm', 'start', '--ignore-scripts'], {
    cwd: ROOT,
    env: { PATH, HOME, DATA_DIR: folder, PORT: '0' },
    stdout: 'pipe',
    stderr: 'inherit',
  });
  try {
    let written = '';
    for await (const chunk of npm.stdout.pipeThrough(new TextDecoderStream())) {
      written += chunk;
      if (written.includes('ci-insights is ready at')) break;
    }
    const pid = lockHolder(folder) ?? 0;
    expect(isRunning(pid)).toBe(true);
    npm.kill('SIGTERM');
    await npm.exited;
    await until(() => !isRunning(pid)).catch((error: unknown) => {
      process.kill(pid);
      throw error;
    });
    expect(lockHolder(folder)).toBeUndefined();
  } finally {
    npm.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  }
});
