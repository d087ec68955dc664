/** The API as a separate process: what workers and the embedded ClickHouse do delays no answer. */
import type { Metrics } from '../observability/registry.ts';
import { runPart } from '../parts/process.ts';
import { startApi } from './api.ts';

await runPart(async (deps, channel) => {
  const api = await startApi(deps, async () => (await channel.call('metrics')).value as Metrics[]);
  return { started: { url: api.url }, stop: api.stop, close: api.close };
});
