/** The API as a separate process: what workers and the embedded ClickHouse do delays no answer. */
import type { Metrics } from '../observability/registry.ts';
import { runPart } from '../parts/process.ts';
import { startApi } from './api.ts';

await runPart(async (deps, channel) => {
  const metrics = async () => (await channel.call('metrics')).value as Metrics[];
  // They end with this process, so one yes is enough; and the other process may be busy.
  let areWorking = false;
  const workers = async (): Promise<boolean> => {
    areWorking ||= (await channel.call('areWorking')).value === true;
    return areWorking;
  };
  const api = await startApi(deps, { metrics, probes: { workers } });
  return { started: { url: api.url }, stop: api.stop, close: api.close };
});
