/** Everything that the API's port offers, on the test stores and on a port. */
import { serviceFeatures } from '../../src/features.ts';
import { startMonitoring } from '../../src/operate/monitoring.ts';
import { openTestApp, type TestApp } from './http.ts';
import { openTestStores } from './stores.ts';

export interface ServiceApp extends TestApp {
  port: number;
  stop(): Promise<void>;
}

export async function openServiceApp(): Promise<ServiceApp> {
  const stores = await openTestStores();
  const monitoring = startMonitoring(stores);
  const app = await openTestApp({ all: serviceFeatures(stores, stores.probes, monitoring) });
  app.app.listen({ hostname: '127.0.0.1', port: 0 });
  return {
    ...app,
    port: app.app.server?.port ?? 0,
    stop: async () => {
      await app.app.stop(true);
      await monitoring.stop();
    },
  };
}

/** How long a service answers at most with these connections open: milliseconds of the slowest of some probes. */
export async function slowestProbe(port: number, probes: number): Promise<number> {
  let slowest = 0;
  for (let i = 0; i < probes; i++) {
    const startedAt = performance.now();
    const { status } = await fetch(`http://127.0.0.1:${port}/healthz/live`, { headers: { connection: 'close' } });
    if (status !== 200) throw new Error(`liveness answered ${status}`);
    slowest = Math.max(slowest, performance.now() - startedAt);
    await Bun.sleep(50);
  }
  return slowest;
}
