/**
 * A part of the service in a separate process, started by `parent.ts`. It holds nothing that must not be lost, and ends with
 * the process that started it.
 */
import packageJson from '../../package.json' with { type: 'json' };
import { Channel } from '../channel.ts';
import { remoteEngines } from '../clickhouse/remote.ts';
import { readConfig, secretsOf } from '../config.ts';
import { type Deps, openDeps } from '../deps.ts';
import { createLogger } from '../observability/log.ts';
import { logProcessOutput } from '../observability/process-output.ts';
import { registry } from '../observability/registry.ts';
import { startTracing } from '../observability/tracing.ts';

/** The message that starts a part. */
export interface PartStart {
  databaseUrl: string;
  /** Whether the embedded ClickHouse is in the other process. */
  hasEngine: boolean;
}

export interface RunningPart {
  /** The part's words to the other process when it is ready. */
  started?: unknown;
  /** Lets what was begun finish. */
  stop(): Promise<void>;
  close?(): Promise<void>;
}

/** Runs the part until the other process ends it, then ends this process. */
export async function runPart(begin: (deps: Deps, channel: Channel) => Promise<RunningPart>): Promise<never> {
  // Who stops the service tells the other process, which tells this one. Ctrl-C reaches both.
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => {});
  const config = readConfig();
  const log = createLogger(config.logLevel, undefined, secretsOf(config));
  logProcessOutput(log);
  let part: RunningPart | undefined;
  let closeAll = async (): Promise<void> => {};

  const open = async ({ databaseUrl, hasEngine }: PartStart): Promise<Deps> => {
    const { tracing } = config;
    const onLost = (err: Error | undefined): void =>
      log.warn({ err }, 'cannot send traces; the service works without them');
    const stopTracing = tracing && (await startTracing({ ...tracing, version: packageJson.version, onLost }));
    const call: Channel['call'] = (name, message) => channel.call(name, message);
    const engines = hasEngine ? remoteEngines(call) : undefined;
    const deps = await openDeps(config, { log, shared: { databaseUrl, engines } });
    closeAll = async () => {
      await stopTracing?.();
      await deps.close();
    };
    return deps;
  };
  const channel = new Channel(Bun.stdout.writer(), {
    start: async (start: PartStart) => {
      part = await begin(await open(start), channel);
      return { value: part.started };
    },
    metrics: async () => ({ value: await registry.getMetricsAsJSON() }),
    stop: async () => {
      await part?.stop();
      return {};
    },
    close: async () => {
      await part?.close?.();
      await closeAll();
      return {};
    },
  });
  await channel.read(Bun.stdin.stream());
  process.exit(0);
}
