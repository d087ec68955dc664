/**
 * The API as a separate process, started by `child.ts`: what workers and the embedded ClickHouse do delays no answer. It
 * holds nothing that must not be lost, and ends with the process that started it.
 */
import packageJson from '../../package.json' with { type: 'json' };
import { Channel } from '../channel.ts';
import { remoteEngine } from '../clickhouse/remote.ts';
import { readConfig, secretsOf } from '../config.ts';
import { openDeps } from '../deps.ts';
import { createLogger } from '../observability/log.ts';
import { logProcessOutput } from '../observability/process-output.ts';
import type { Metrics } from '../observability/registry.ts';
import { startTracing } from '../observability/tracing.ts';
import { type Api, startApi } from './api.ts';

/** What the other process tells this one. */
export interface ApiStart {
  databaseUrl: string;
  /** Whether the embedded ClickHouse is in the other process. */
  hasEngine: boolean;
}

// Who stops the service tells the other process, which tells this one. Ctrl-C reaches both.
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => {});

const config = readConfig();
const log = createLogger(config.logLevel, undefined, secretsOf(config));
logProcessOutput(log);
let api: Api | undefined;
let closeAll = async (): Promise<void> => {};

const channel = new Channel(Bun.stdout.writer(), {
  start: async (start: ApiStart) => {
    api = await started(start);
    return { value: { url: api.url } };
  },
  stop: async () => {
    await api?.stop();
    return {};
  },
  close: async () => {
    await api?.close();
    await closeAll();
    return {};
  },
});
await channel.read(Bun.stdin.stream());
process.exit(0);

async function started({ databaseUrl, hasEngine }: ApiStart): Promise<Api> {
  const { tracing } = config;
  const onLost = (err: Error | undefined): void =>
    log.warn({ err }, 'cannot send traces; the service works without them');
  const stopTracing = tracing && (await startTracing({ ...tracing, version: packageJson.version, onLost }));
  const engine = hasEngine ? remoteEngine((name, message) => channel.call(name, message)) : undefined;
  const deps = await openDeps(config, { log, shared: { databaseUrl, engine } });
  closeAll = async () => {
    await stopTracing?.();
    await deps.close();
  };
  return startApi(deps, async () => (await channel.call('metrics')).value as Metrics);
}
