/** The whole log of a run in which much goes wrong: every line is JSON, and none contains a secret. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { startClickHouseServer, type TestClickHouse } from '../support/clickhouse-http.ts';
import { freePort } from '../support/free-port.ts';
import { junitReport } from '../support/gateway.ts';
import { until } from '../support/patience.ts';
import { hasRedis, startRedis, type TestRedis } from '../support/redis.ts';
import { ServiceProcess } from '../support/service-process.ts';
import { delivery } from '../support/webhooks.ts';

const SECRETS = {
  redis: 'redis/pass+word 1234',
  webhook: 'webhook-secret-0123456789',
  tracing: 'tracing-token-abcdef',
  unknownKey: 'cii_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
  hostToken: 'ghp_1234567890abcdefghij1234567890abcdef',
  boardPassword: 'a-password-of-nobody',
  wrongWebhook: 'a-wrong-secret-for-webhooks',
};
const UPLOAD = '/v1/ci/acme/repositories/shop/junit?pipeline_name=CI&job_name=unit&branch=main&run_id=';

describe.skipIf(!hasRedis)('the log of a run with faults', () => {
  let dataDir: string;
  let redis: TestRedis;
  let clickhouse: TestClickHouse;
  let service: ServiceProcess;

  beforeAll(async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'ci-insights-log-'));
    redis = await startRedis(SECRETS.redis);
    // BullMQ prints a warning about it, past every listener.
    const client = new Redis(redis.url);
    await client.config('SET', 'maxmemory-policy', 'allkeys-lru');
    client.disconnect();
    clickhouse = await startClickHouseServer();
    service = ServiceProcess.onFolder(dataDir, {
      REDIS_URL: redis.url,
      CLICKHOUSE_URL: clickhouse.url,
      HOST_WEBHOOK_SECRETS: `github=${SECRETS.webhook}`,
      // Nothing answers there.
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${await freePort()}`,
      OTEL_EXPORTER_OTLP_HEADERS: `authorization=${SECRETS.tracing}`,
      LOG_LEVEL: 'debug',
    });
    await service.start();
  });
  afterAll(async () => {
    await service?.kill();
    redis?.thaw();
    await redis?.stop();
    await clickhouse?.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  const upload = (run: string) =>
    service.request(UPLOAD + run, { method: 'POST', body: junitReport([{ name: run }]) }).then(({ status }) => status);
  const unacceptable = (path: string, authorization: string) =>
    fetch(`${service.origin}${path}`, { headers: { authorization } });

  test('is JSON to the last line and has no secret, whatever fails', async () => {
    expect(await upload('good')).toBe(202);
    for (const token of [SECRETS.unknownKey, SECRETS.hostToken]) {
      await unacceptable(`/v1/ci/acme/repositories/shop/search/tests?test_name=${token}`, `Bearer ${token}`);
      await unacceptable(`/v1/${token}`, token);
    }
    await unacceptable('/admin/queues', `Basic ${btoa(`any:${SECRETS.boardPassword}`)}`);
    const ping = delivery('ping', { zen: 'Keep it logically awesome.' });
    for (const secret of [SECRETS.webhook, SECRETS.wrongWebhook])
      await fetch(`${service.origin}/webhooks/github`, {
        method: 'POST',
        body: ping.body,
        headers: ping.headers(secret),
      });

    const [pid] = readFileSync(join(dataDir, 'postgres/postmaster.pid'), 'utf8').split('\n');
    process.kill(Number(pid), 'SIGKILL');
    await upload('without PostgreSQL');
    await until(async () => (await service.request('/healthz/ready')).status === 200);

    redis.freeze();
    await Promise.all(['frozen 1', 'frozen 2'].map(upload));
    redis.thaw();
    await redis.down();
    await Promise.all(['down 1', 'down 2'].map(upload));
    await Bun.sleep(1_000);
    await redis.up();
    await until(async () => (await upload('again')) === 202);

    for (const matching of ['insights/search', 'INSERT']) await clickhouse.fault({ kind: 'drop', matching, times: 3 });
    await service.request('/v1/ci/acme/repositories/shop/search/tests?test_name=*');
    await service.stop();

    const lines = service.logged.trimEnd().split('\n');
    expect(lines.length).toBeGreaterThan(10);
    const others = lines.filter((line) => !isLogLine(line));
    expect(others).toEqual([]);
    const files = ['admin.key', 'postgres.password'].map((file) => readFileSync(join(dataDir, file), 'utf8').trim());
    const clickhousePassword = decodeURIComponent(new URL(clickhouse.url).password);
    for (const secret of [...Object.values(SECRETS), ...files, clickhousePassword])
      for (const form of new Set([secret, encodeURIComponent(secret), btoa(secret), btoa(`any:${secret}`)]))
        expect([secret, form, service.written.includes(form)]).toEqual([secret, form, false]);
  });
});

function isLogLine(line: string): boolean {
  try {
    const { level, time, msg } = JSON.parse(line);
    return typeof level === 'number' && typeof time === 'string' && typeof msg === 'string';
  } catch {
    return false;
  }
}
