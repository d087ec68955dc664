/** Starts a part of the service as a separate process, and stops it. It uses the stores of the process that started it. */
import { Channel, type Handlers } from '../channel.ts';
import { serveEngine } from '../clickhouse/remote.ts';
import { type Deps, engineFolder } from '../deps.ts';
import type { Metrics } from '../observability/registry.ts';
import type { PartStart } from './process.ts';

export interface PartOptions {
  /** The script that the process runs; it calls `runPart`. */
  script: string;
  environment: Readonly<Record<string, string | undefined>>;
  /** Functions that the part may call. */
  handlers?: Handlers;
}

export interface Part {
  /** The part's words when it was ready. */
  started: unknown;
  /** Resolves when the process ends without having been stopped. */
  lost: Promise<void>;
  metrics(): Promise<Metrics>;
  /** Lets it finish what it has begun. */
  stop(): Promise<void>;
  /** Ends the process. */
  close(): Promise<void>;
}

/** Returns when the part is ready. Throws what kept it from starting. */
export async function startPart({ config, databaseUrl }: Deps, options: PartOptions): Promise<Part> {
  const { script, environment, handlers } = options;
  const served = config.clickhouseUrl ? undefined : await serveEngine(engineFolder(config));
  const child = Bun.spawn([process.execPath, ...process.execArgv, script], {
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'inherit',
    env: environment,
  });
  const channel = new Channel(child.stdin, { ...served?.handlers, ...handlers });
  const reading = channel.read(child.stdout).catch(() => {});
  let isStopping = false;
  const lost = Promise.withResolvers<void>();
  void child.exited.then(() => {
    if (!isStopping) lost.resolve();
  });
  const tell = async (name: 'stop' | 'close'): Promise<void> => {
    isStopping = true;
    await channel.call(name).catch(() => {});
  };
  const close = async (): Promise<void> => {
    await tell('close');
    await child.stdin.end();
    await child.exited;
    await reading;
    await served?.close();
  };
  try {
    const start: PartStart = { databaseUrl, hasEngine: served !== undefined };
    const { value: started } = await channel.call('start', { value: start });
    const metrics = async () => (await channel.call('metrics')).value as Metrics;
    return { started, lost: lost.promise, metrics, stop: () => tell('stop'), close };
  } catch (error) {
    await close();
    throw error;
  }
}
