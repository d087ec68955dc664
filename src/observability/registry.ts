/** The metrics of this process. There is one registry per process, however many apps it runs. */
import { collectDefaultMetrics, Gauge, Registry } from '@prometheus-io/client';

export const registry = new Registry();

/** The library's process metrics that mean something on Bun. */
const PROCESS_METRICS = [
  'process_cpu_user_seconds_total',
  'process_cpu_system_seconds_total',
  'process_cpu_seconds_total',
  'process_start_time_seconds',
  'process_resident_memory_bytes',
  'process_open_fds',
  'process_max_fds',
  'nodejs_heap_size_total_bytes',
  'nodejs_heap_size_used_bytes',
  'nodejs_eventloop_lag_seconds',
];

const everything = new Registry();
collectDefaultMetrics({ register: everything });
for (const name of PROCESS_METRICS) {
  const metric = everything.getSingleMetric(name);
  // The number of open files is known on Linux only.
  if (metric) registry.registerMetric(metric);
}

const buildInfo = new Gauge({
  name: 'ci_insights_build_info',
  help: 'Always 1; the labels say what is running.',
  labelNames: ['version', 'bun', 'role'],
  registers: [registry],
});

/** Publishes what is running here. `role` is all, api or worker. */
export function setBuildInfo(version: string, role: string): void {
  buildInfo.reset();
  buildInfo.set({ version, bun: Bun.version, role }, 1);
}

export const METRICS_MEDIA_TYPE = registry.contentType;

/** The metrics of a process, as they cross to another one. */
export type Metrics = Awaited<ReturnType<Registry['getMetricsAsJSON']>>;

/**
 * All metrics in the text format of Prometheus. Gauges that read a store catch its errors, so this does not fail with
 * one. Those of other processes of the service are added to ours.
 */
export async function renderMetrics(others?: readonly Metrics[]): Promise<string> {
  if (!others) return registry.metrics();
  const own = await registry.getMetricsAsJSON();
  for (const metric of own) metric.aggregator = TOGETHER[metric.name] ?? 'sum';
  return Registry.aggregate([own, ...others]).metrics();
}

/** Metrics that are not the sum of several processes. */
const TOGETHER: Readonly<Record<string, Metrics[number]['aggregator']>> = {
  process_start_time_seconds: 'min',
  process_max_fds: 'min',
  nodejs_eventloop_lag_seconds: 'max',
};
