/**
 * The limits of memory in compose.yaml and in the chart hold: in a real control group, with the largest uploads that are
 * allowed, more of them at once than there are parsers. Nothing is killed, nothing is refused for good, nothing is lost.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { UPLOAD_EXECUTIONS_MAX } from '../../src/domain/limits.ts';
import { startEmbeddedPostgres } from '../../src/postgres/embedded.ts';
import { machine, run } from '../clients/support/run.ts';
import { hasRealClickHouse, startRealClickHouse } from '../support/clickhouse-real/server.ts';
import { makeFolder } from '../support/folder.ts';
import { freePort } from '../support/free-port.ts';
import { LARGEST, largestUpload } from '../support/largest-uploads.ts';
import { MemoryGroup, whyNoGroups } from '../support/memory-group.ts';
import { packedReport } from '../support/packed-report.ts';
import { processTree } from '../support/process-tree.ts';
import { hasRedis, startRedis } from '../support/redis.ts';
import { CLI, ROOT, ServiceProcess } from '../support/service-process.ts';

const MEBIBYTE = 1024 ** 2;
/** Minutes, where six other programs use the processors. */
const PATIENCE_MS = 20 * 60_000;

/** All of them fail, with 2 kB each: 800 MB of text. */
const STORED_MIN = 400_000;

const noGroups = whyNoGroups();
if (noGroups !== undefined) console.error(`skipped: limits of memory are not tried out, because ${noGroups}`);

const limitSchema = z.object({ limits: z.object({ memory: z.string() }) });
const composeSchema = z.object({
  services: z.record(z.string(), z.object({ deploy: z.object({ resources: limitSchema }) })),
});
const chartSchema = z.object({
  api: z.object({ resources: limitSchema }),
  worker: z.object({ resources: limitSchema }),
});
const yaml = (file: string): unknown => Bun.YAML.parse(readFileSync(join(ROOT, file), 'utf8'));
const bytesOf = (text: string): number => Number.parseInt(text, 10) * (/g/i.test(text) ? 1_024 : 1) * MEBIBYTE;

const { services } = composeSchema.parse(yaml('compose.yaml'));
const chart = chartSchema.parse(yaml('deploy/helm/values.yaml'));
/** The limits of a role, each once, the lowest first. */
const limitsOf = (role: 'api' | 'worker'): number[] => {
  const compose = services[role]?.deploy.resources.limits.memory ?? '';
  return [...new Set([bytesOf(compose), bytesOf(chart[role].resources.limits.memory)])].sort((a, b) => a - b);
};

interface Sent {
  path: string;
  headers: Record<string, string>;
  body: Uint8Array<ArrayBuffer>;
}

describe.skipIf(noGroups !== undefined || !hasRedis || !hasRealClickHouse)('in a container', () => {
  const folder = makeFolder('container-memory');
  let environment: Record<string, string>;
  let stop: () => Promise<void>;
  let token: string;
  let executions = 0;

  beforeAll(async () => {
    const [postgres, redis, clickhouse] = await Promise.all([
      startEmbeddedPostgres(folder),
      startRedis(),
      startRealClickHouse(),
    ]);
    environment = { DATABASE_URL: postgres.url, REDIS_URL: redis.url, CLICKHOUSE_URL: clickhouse.url() };
    stop = async () => {
      await Promise.all([postgres.stop(), redis.stop(), clickhouse.stop()]);
      rmSync(folder, { recursive: true, force: true });
    };
    const ci = async (...args: string[]): Promise<string> => {
      const { code, stdout, printed } = await run([process.execPath, CLI, ...args], {
        env: { ...machine(), ...environment, DATA_DIR: folder },
      });
      expect([code, printed]).toEqual([0, expect.any(String)]);
      return stdout;
    };
    await ci('migrate');
    const made = await ci('keys', 'create', '--every-owner', '--scope', 'admin', '--json');
    token = z.object({ token: z.string() }).parse(JSON.parse(made)).token;
  }, PATIENCE_MS);
  afterAll(() => stop?.());

  /** A role in a group with this limit; it says afterwards what it took. */
  async function within<T>(
    command: 'serve' | 'worker',
    bytes: number,
    use: (service: ServiceProcess, metrics: () => Promise<string>) => Promise<T>,
  ): Promise<{ used: T; kills: number; peakMebibytes: number }> {
    const group = new MemoryGroup(bytes);
    const metricsPort = await freePort();
    const ports = { PORT: String(await freePort()), METRICS_PORT: String(metricsPort) };
    const own = {
      ...environment,
      ...ports,
      DATA_DIR: folder,
      LOG_LEVEL: 'warn',
      ...(command === 'serve' && { ROLE: 'api' }),
    };
    const service = new ServiceProcess(command, own, { group });
    try {
      await service.start();
      const used = await use(service, async () => (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text());
      // Null for one that was killed. A worker with a backlog may need longer for its last jobs than a stop waits.
      expect(await service.stop()).not.toBeNull();
      return { used, kills: group.kills, peakMebibytes: Math.round(group.peakBytes / MEBIBYTE) };
    } finally {
      await service.kill();
      group.remove();
    }
  }

  /** Sends until the service takes it, as clients do, but without giving up. Returns how often it had to try again. */
  async function sendUntilTaken(service: ServiceProcess, { path, headers, body }: Sent): Promise<number> {
    let again = 0;
    for (const until = performance.now() + PATIENCE_MS; performance.now() < until; ) {
      const response = await fetch(`${service.origin}${path}`, {
        method: 'POST',
        headers: { ...headers, authorization: `Bearer ${token}`, 'content-encoding': 'gzip' },
        body,
        signal: AbortSignal.timeout(PATIENCE_MS),
      });
      const text = await response.text();
      if (response.status !== 503) {
        // What answers traces says nothing of executions.
        const isTaken = response.status === 202 || (response.status === 200 && path.endsWith('/traces'));
        expect([path, response.status, isTaken, text]).toEqual([path, response.status, true, text]);
        executions += Number(/"executions":(\d+)/.exec(text)?.[1] ?? UPLOAD_EXECUTIONS_MAX);
        return again;
      }
      again++;
      const seconds = Number(response.headers.get('retry-after'));
      expect(seconds).toBeGreaterThan(0);
      await Bun.sleep(seconds * 1_000);
    }
    throw new Error(`${path} was refused ${again} times`);
  }

  /** How many processes of parsers a service has, looked at until it is told to stop. */
  function watchParsers(service: ServiceProcess): () => number {
    let most = 0;
    const watch = setInterval(() => {
      const parsers = processTree(service.pid).filter(({ command }) => command.includes('parsing/process.ts'));
      most = Math.max(most, parsers.length);
    }, 500);
    return () => {
      clearInterval(watch);
      return most;
    };
  }

  /** The largest uploads, each from another owner, so that none waits for the share of another. */
  const largest = (nth: number): Sent[] =>
    Object.entries(LARGEST).map(([name, shape]) => ({
      path: `/v1/ci/owner-${name.replace(' ', '-')}/repositories/shop${shape.path}${shape.path.includes('?') ? `&run_id=${nth}` : ''}`,
      headers: { 'content-type': shape.contentType },
      body: Bun.gzipSync(largestUpload(shape, nth)),
    }));

  test.each(limitsOf('api').map((bytes) => [bytes / MEBIBYTE]))(
    'an API with %i MiB takes the largest upload of every format, all at once',
    async (mebibytes) => {
      const uploads = largest(mebibytes);
      const { used, kills, peakMebibytes } = await within('serve', mebibytes * MEBIBYTE, async (service, metrics) => {
        const stopWatching = watchParsers(service);
        const again = await Promise.all(uploads.map((upload) => sendUntilTaken(service, upload)));
        const ended = (await metrics()).match(/^ci_insights_parsers_ended_total\{.* [1-9]\d*$/gm) ?? [];
        return { again, ended, parsers: stopWatching() };
      });
      console.log({ mebibytes, peakMebibytes, kills, ...used });
      expect(used.parsers).toBeLessThan(uploads.length);
      expect(kills).toBe(0);
      // On a busy machine a parser may get too little time, and the upload is read again.
      expect(used.ended.filter((line) => !line.includes('"time"'))).toEqual([]);
    },
    2 * PATIENCE_MS,
  );

  test(
    'an API with 1 GiB says that it is too small for the largest, and takes ordinary ones of 100,000 tests',
    async () => {
      const uploads = Array.from({ length: 6 }, (_, nth) => ({
        path: `/v1/ci/small-${nth}/repositories/shop/junit?pipeline_name=CI&job_name=unit&branch=main&run_id=${nth}`,
        headers: { 'content-type': 'application/xml' },
        body: packedReport(100_000, 20, nth),
      }));
      const { used, kills, peakMebibytes } = await within('serve', 1_024 * MEBIBYTE, async (service) => {
        const again = await Promise.all(uploads.map((upload) => sendUntilTaken(service, upload)));
        expect(service.logged).toMatch(/The service has 1024 MiB of memory/);
        return { again };
      });
      console.log({ mebibytes: 1_024, peakMebibytes, kills, ...used });
      expect(kills).toBe(0);
    },
    PATIENCE_MS,
  );

  test(
    'a worker stores what waits, which is more than it has memory for',
    async () => {
      const [bytes = 0] = limitsOf('worker');
      const stored = async (): Promise<number> => {
        const sql = 'SELECT count() FROM ci.executions';
        const response = await fetch(environment.CLICKHOUSE_URL ?? '', { method: 'POST', body: sql });
        return Number(await response.text());
      };
      const wanted = Math.min(executions, STORED_MIN);
      const { kills, peakMebibytes } = await within('worker', bytes, async (service, metrics) => {
        for (const until = performance.now() + PATIENCE_MS; performance.now() < until; await Bun.sleep(1_000)) {
          if ((await stored()) >= wanted) break;
          // One that was killed stores nothing more.
          await metrics().catch((error: unknown) => {
            throw new Error(`the worker does not answer: ${service.logged.slice(-1_000)}`, { cause: error });
          });
        }
      });
      console.log({ mebibytes: bytes / MEBIBYTE, peakMebibytes, kills, waited: executions, stored: await stored() });
      expect(kills).toBe(0);
      expect(await stored()).toBeGreaterThanOrEqual(wanted);
      expect(await stored()).toBeLessThanOrEqual(executions);
    },
    2 * PATIENCE_MS,
  );
});
