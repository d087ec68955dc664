/** Everything that the API's port offers, on the test stores and on a port. */
import { readConfig } from '../../src/config.ts';
import { serviceFeatures } from '../../src/features.ts';
import { ImportRunner, importsOf } from '../../src/imports/runner.ts';
import type { OidcConfig } from '../../src/oidc-config.ts';
import { startMonitoring } from '../../src/operate/monitoring.ts';
import { makeFolder } from './folder.ts';
import { openTestApp, type TestApp } from './http.ts';
import { openTestStores } from './stores.ts';

export interface ServiceApp extends TestApp {
  port: number;
  stop(): Promise<void>;
}

interface ServiceOptions {
  /** Absent: any free one. */
  port?: number;
  /** The hosts, by name, with the addresses of their REST APIs; the first is the default host. Absent: GitHub. */
  apiUrls?: Readonly<Record<string, string>>;
  /** People sign in with this provider, too. */
  oidc?: OidcConfig;
}

export async function openServiceApp({ port = 0, oidc, apiUrls }: ServiceOptions = {}): Promise<ServiceApp> {
  const stores = await openTestStores();
  const monitoring = startMonitoring(stores);
  const hosts = apiUrls
    ? readConfig({ HOSTS: Object.keys(apiUrls).join('; ') }).hosts.map((host) => ({
        ...host,
        apiUrl: apiUrls[host.name] ?? host.apiUrl,
      }))
    : stores.config.hosts;
  const deps = { ...stores, config: { ...stores.config, oidc, hosts } };
  const imports = new ImportRunner({
    ...{ store: importsOf(stores), clock: stores.clock, log: stores.log },
    dataDir: makeFolder('imports'),
  });
  const app = await openTestApp({
    all: serviceFeatures(deps, stores.probes, monitoring, { imports }),
    credentials: [imports],
    ...(oidc && { publicUrl: `http://127.0.0.1:${port}` }),
  });
  app.app.listen({ hostname: '127.0.0.1', port });
  imports.address = `http://127.0.0.1:${app.app.server?.port}`;
  return {
    ...app,
    port: app.app.server?.port ?? 0,
    stop: async () => {
      await imports.stop();
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
