import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConfig } from '../../src/config.ts';
import { type Deps, openDeps } from '../../src/deps.ts';
import { takenSchema } from '../../src/ingest/schemas.ts';
import { verify } from '../../src/maintenance/verify.ts';
import { createLogger } from '../../src/observability/log.ts';
import { startEmbeddedPostgres } from '../../src/postgres/embedded.ts';
import { executionKinds } from '../../src/queue/kinds.ts';
import { type Balancer, startBalancer } from '../support/balancer.ts';
import { startClickHouseServer } from '../support/clickhouse-http.ts';
import { freePort } from '../support/free-port.ts';
import { until } from '../support/patience.ts';
import { hasRedis, startRedis } from '../support/redis.ts';
import { ServiceProcess } from '../support/service-process.ts';
import { isEvaluated } from '../support/stored-exactly.ts';

/** Several times the balancer's interval. */
const DRAIN_MS = 500;
const REPOSITORY = 'v1/ci/acme/repositories/rolling';

let stores: { environment: Record<string, string>; close(): Promise<void> };
let deps: Deps;
let token: string;
let apis: ServiceProcess[];
let workers: ServiceProcess[];
let balancer: Balancer;

describe.skipIf(!hasRedis)('two APIs and two workers on separate servers', () => {
  beforeAll(async () => {
    const folder = mkdtempSync(join(tmpdir(), 'ci-insights-rolling-'));
    const [postgres, redis, clickhouse] = await Promise.all([
      startEmbeddedPostgres(folder),
      startRedis(),
      startClickHouseServer(),
    ]);
    const environment = {
      DATABASE_URL: postgres.url,
      REDIS_URL: redis.url,
      CLICKHOUSE_URL: clickhouse.url,
      DATA_DIR: folder,
      SHUTDOWN_DRAIN_MS: String(DRAIN_MS),
    };
    stores = {
      environment,
      close: async () => {
        await Promise.all([postgres.stop(), redis.stop(), clickhouse.stop()]);
        rmSync(folder, { recursive: true, force: true });
      },
    };
    deps = await openDeps(readConfig(environment), { log: createLogger('error') });
    token = (await deps.keys.create({ name: 'load', owner: null, scope: 'admin', repositories: null, expiresAt: null }))
      .token;
    const ports = [await freePort(), await freePort()];
    apis = ports.map((port) => new ServiceProcess('serve', { ...environment, ROLE: 'api', PORT: String(port) }));
    workers = [0, 1].map(() => new ServiceProcess('worker', environment));
    // All at once: each of them migrates.
    await Promise.all([...apis, ...workers].map((service) => service.start()));
    balancer = await startBalancer(ports);
  });

  afterAll(async () => {
    await balancer?.close();
    await Promise.all([...(apis ?? []), ...(workers ?? [])].map((service) => service.stop()));
    await deps?.close();
    await stores?.close();
  });

  const send = (path: string, init: RequestInit = {}): Promise<Response> =>
    fetch(`${balancer.url}/${path}`, { ...init, headers: { authorization: `Bearer ${token}`, ...init.headers } });

  test('restarting each in turn fails no request, and every execution counts once', async () => {
    const failures: string[] = [];
    const counts = { reads: 0, lists: 0, uploads: 0, fresh: 0 };
    const receipts: string[] = [];
    let isOver = false;

    const keepOn = async (kind: keyof typeof counts, request: (nth: number) => Promise<Response>): Promise<void> => {
      for (let nth = 0; !isOver; nth++) {
        try {
          const response = await request(nth);
          const body: unknown = await response.json();
          if (!response.headers.get('content-type')?.startsWith('application/json'))
            failures.push(`${kind}: ${response.headers.get('content-type')}`);
          if (response.status !== (kind === 'uploads' ? 202 : 200)) failures.push(`${kind}: ${response.status}`);
          else if (kind === 'uploads') receipts.push(takenSchema.parse(body).id);
        } catch (error) {
          failures.push(`${kind}: ${error}`);
        }
        counts[kind]++;
        // A few hundred requests while each process restarts are enough.
        await Bun.sleep(5);
      }
    };
    const report = (nth: number, track: string): string =>
      `<testsuite name="s"><testcase classname="c" name="t${nth % 7}"/><testcase classname="c" name="${track}"><failure message="boom ${nth % 3}"/></testcase></testsuite>`;
    const upload = (track: string) => (nth: number) =>
      send(
        `${REPOSITORY}/junit?pipeline_name=CI&job_name=unit&run_id=${track}-${nth}&run_attempt=1&branch=main&commit=c${nth}&report=r.xml`,
        { method: 'POST', body: report(nth, track) },
      );
    const load = [
      keepOn('reads', () => send(`${REPOSITORY}/search/tests?test_name=*`)),
      keepOn('lists', () => send(`${REPOSITORY}/quarantines`)),
      keepOn('fresh', () => send(`${REPOSITORY}/search/tests?test_name=c.*`, { keepalive: false })),
      keepOn('uploads', upload('a')),
      keepOn('uploads', upload('b')),
    ];
    for (const service of [...apis, ...workers]) {
      expect(await service.stop()).toBe(0);
      await service.start();
      await balancer.allReady();
    }
    isOver = true;
    await Promise.all(load);

    expect(failures).toEqual([]);
    for (const count of Object.values(counts)) expect(count).toBeGreaterThan(10);
    expect(new Set(receipts).size).toBe(counts.uploads);
    const { producers } = deps;
    for (const queue of executionKinds.map(({ name }) => producers.ofQueue(name)))
      await until(async () => ((await queue?.depth()) ?? 0) === 0);
    await until(() => isEvaluated(deps));
    const result = await verify(deps);
    expect(result.checks.filter((check) => check.count > 0)).toEqual([]);
    expect(result.executions).toBe(2 * counts.uploads);
  });

  test('two APIs share one port, and both are reached', async () => {
    const PORT = String(await freePort());
    const metricsPorts = [await freePort(), await freePort()];
    const sharing = metricsPorts.map(
      (port) =>
        new ServiceProcess('serve', {
          ...stores.environment,
          ROLE: 'api',
          PORT,
          METRICS_PORT: String(port),
          SHUTDOWN_DRAIN_MS: '0',
        }),
    );
    await Promise.all(sharing.map((service) => service.start()));
    try {
      const served = async (): Promise<number[]> =>
        Promise.all(
          metricsPorts.map(async (port) => {
            const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
            const lines = text.match(/^\w*requests?_?\w*_count\{[^}]*application[^}]*\} (\d+)$/gm) ?? [];
            return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
          }),
        );
      for (let sent = 0; sent < 200; sent++)
        await fetch(`http://127.0.0.1:${PORT}/v1/application`, {
          keepalive: false,
          headers: { authorization: `Bearer ${token}` },
        });
      const [one = 0, other = 0] = await served();
      expect(one + other).toBe(200);
      expect(one).toBeGreaterThan(0);
      expect(other).toBeGreaterThan(0);
    } finally {
      await Promise.all(sharing.map((service) => service.stop()));
    }
  });
});
