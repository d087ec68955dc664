/** Metrics as Prometheus reads them. */
import { startMonitoring } from '../../src/operate/monitoring.ts';
import { openTestApp } from './http.ts';
import type { TestStores } from './stores.ts';

export class Samples {
  constructor(readonly text: string) {}

  /** Every name in a sample line, and those of metrics without samples yet. */
  get names(): Set<string> {
    const shown = [...this.text.matchAll(/^([a-z_]\w*)(?:\{| )/gm)].map((match) => match[1] ?? '');
    const described = [...this.text.matchAll(/^# TYPE (\w+) (\w+)$/gm)].flatMap(([, name = '', type]) =>
      type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
    );
    return new Set([...shown, ...described]);
  }

  /** The value of the sample with all the given labels, in any order; 0 if there is none. */
  value(name: string, labels: Record<string, string> = {}): number {
    return this.find(name, labels) ?? 0;
  }

  find(name: string, labels: Record<string, string> = {}): number | undefined {
    const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
    const line = this.text
      .split('\n')
      .find((text) => text.match(/^\w+/)?.[0] === name && wanted.every((pair) => text.includes(pair)));
    return line === undefined ? undefined : Number(line.slice(line.lastIndexOf(' ') + 1));
  }
}

/** A new reading: sampled gauges are read again. */
export async function readMetrics(stores: TestStores): Promise<Samples> {
  const monitoring = startMonitoring(stores);
  try {
    const app = await openTestApp({ features: monitoring.features });
    const response = await app.request('/metrics', { token: null });
    if (response.status !== 200) throw new Error(`/metrics answered ${response.status}`);
    return new Samples(await response.text());
  } finally {
    await monitoring.stop();
  }
}
