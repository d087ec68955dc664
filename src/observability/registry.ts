/** Where the metrics of this process are kept, and how they are shown. A process has one of each, however many apps it holds. */
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';

export const registry = new Registry();

/** Of what the library knows of a process; the rest of it means nothing on Bun. */
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
  // Open files are known on Linux only.
  if (metric) registry.registerMetric(metric);
}

const buildInfo = new Gauge({
  name: 'ci_insights_build_info',
  help: 'Always 1; the labels say what runs.',
  labelNames: ['version', 'bun', 'role'],
  registers: [registry],
});

/** Tells what runs here. `role` is all, api or worker. */
export function setBuildInfo(version: string, role: string): void {
  buildInfo.reset();
  buildInfo.set({ version, bun: Bun.version, role }, 1);
}

export const METRICS_MEDIA_TYPE = registry.contentType;

/** Every metric in the text format of Prometheus. Runs what gauges collect, so it never throws because of a store. */
export const renderMetrics = (): Promise<string> => registry.metrics();
