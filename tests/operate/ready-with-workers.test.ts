/** Role `all` is ready when its workers are, not when its API answers. */
import { expect, test } from 'bun:test';
import { rmSync } from 'node:fs';
import { makeFolder } from '../support/folder.ts';
import { freePort } from '../support/free-port.ts';
import { until } from '../support/patience.ts';
import { processTree } from '../support/process-tree.ts';
import { ServiceProcess } from '../support/service-process.ts';

test('a service is not ready before its workers have started, and says so', async () => {
  const folder = makeFolder('late-workers');
  const port = await freePort();
  const late = ServiceProcess.onFolder(folder, { PORT: String(port) });
  const ready = async () => {
    const response = await fetch(`http://127.0.0.1:${port}/healthz/ready`);
    return [response.status, await response.json()];
  };
  const starting = late.start();
  try {
    const workers = await until(
      () => processTree(late.pid).find(({ command }) => command.includes('workers/process.ts'))?.pid ?? 0,
    );
    process.kill(workers, 'SIGSTOP');
    expect(await ready()).toMatchObject([503, { status: 'unavailable', stores: { workers: false, postgres: true } }]);
    process.kill(workers, 'SIGCONT');
    await starting;
    expect(await ready()).toMatchObject([200, { status: 'ready', stores: { workers: true } }]);
  } finally {
    await late.stop();
    rmSync(folder, { recursive: true, force: true });
  }
});
