/** Many more connections than clients: what they cost those that ask for something. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { readdirSync } from 'node:fs';
import { openConnections } from '../support/many-connections.ts';
import { until } from '../support/patience.ts';
import { openServiceApp, type ServiceApp, slowestProbe } from '../support/service-app.ts';

let service: ServiceApp;
beforeAll(async () => {
  service = await openServiceApp();
});
afterAll(() => service.stop());

const openFiles = (): number => readdirSync('/proc/self/fd').length;

test('with 10,000 idle and 500 slow connections, liveness answers within a second, and all are closed in the end', async () => {
  const before = openFiles();
  const calm = await slowestProbe(service.port, 10);
  const connections = await openConnections(service.port, 10_000, 500);
  try {
    expect(openFiles() - before).toBeGreaterThan(9_000);
    const slowest = await slowestProbe(service.port, 40);
    console.error(`slowest of 40 probes beside ${openFiles() - before} connections: ${Math.round(slowest)} ms`);
    expect(slowest).toBeLessThan(1_000 + 4 * calm);
  } finally {
    await connections.close();
  }
  await until(openFiles, (files) => files - before < 100);
});
