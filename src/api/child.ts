/** Starts the API as a separate process, serves it the embedded ClickHouse, and stops it. */
import { fileURLToPath } from 'node:url';
import { Channel, type Handlers } from '../channel.ts';
import { serveEngine } from '../clickhouse/remote.ts';
import { type Deps, engineFolder } from '../deps.ts';
import { registry } from '../observability/registry.ts';
import { NICENESS, yieldThisProcess } from '../processes.ts';
import { apiEnvironment } from '../runtime.ts';
import type { Api } from './api.ts';
import type { ApiStart } from './process.ts';

const SCRIPT = fileURLToPath(new URL('./process.ts', import.meta.url));

export interface ApiProcess extends Api {
  /** Resolves when the process ends without having been stopped. */
  lost: Promise<void>;
}

/** Returns when the API answers requests. Throws what kept it from starting. */
export async function startApiProcess({ config, databaseUrl }: Deps): Promise<ApiProcess> {
  const served = config.clickhouseUrl ? undefined : await serveEngine(engineFolder(config));
  const child = Bun.spawn([process.execPath, ...process.execArgv, SCRIPT], {
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'inherit',
    env: apiEnvironment(),
  });
  yieldThisProcess(NICENESS.workers);
  const handlers: Handlers = {
    ...served?.handlers,
    metrics: async () => ({ value: await registry.getMetricsAsJSON() }),
  };
  const channel = new Channel(child.stdin, handlers);
  const reading = channel.read(child.stdout).catch(() => {});
  let isStopping = false;
  const lost = Promise.withResolvers<void>();
  void child.exited.then(() => {
    if (!isStopping) lost.resolve();
  });
  const tell = (name: 'stop' | 'close') => channel.call(name).catch(() => {});
  const close = async (): Promise<void> => {
    isStopping = true;
    await tell('close');
    await child.stdin.end();
    await child.exited;
    await reading;
    await served?.close();
  };
  try {
    const start: ApiStart = { databaseUrl, hasEngine: served !== undefined };
    const { url } = (await channel.call('start', { value: start })).value as Pick<Api, 'url'>;
    const stop = async (): Promise<void> => {
      isStopping = true;
      await tell('stop');
    };
    return { url, lost: lost.promise, stop, close };
  } catch (error) {
    await close();
    throw error;
  }
}
