/**
 * The image is small, and what is in it works: its files, laid out as the Dockerfile says, run as its user on a root that
 * cannot be written, without what development needs.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { chmodSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { startEmbeddedPostgres } from '../../src/postgres/embedded.ts';
import { machine } from '../clients/support/run.ts';
import { hasRealClickHouse, startRealClickHouse } from '../support/clickhouse-real/server.ts';
import { makeFolder } from '../support/folder.ts';
import { freePort } from '../support/free-port.ts';
import { bytesOf, layOut } from '../support/image-layout.ts';
import { packedReport } from '../support/packed-report.ts';
import { PATIENCE_MS, until } from '../support/patience.ts';
import { hasRedis, startRedis } from '../support/redis.ts';
import { storedReceipt } from '../support/stored-receipt.ts';

const MEGABYTE = 1e6;
const IMAGE_MEGABYTES_MAX = 250;
/** `oven/bun:…-slim` is Debian's slim image, at most (its packages as installed), and the runtime. */
const DEBIAN_SLIM_MEGABYTES = 80;
const RUNTIME_MEGABYTES = Bun.file(process.execPath).size / MEGABYTE;
const OWN_MEGABYTES_MAX = IMAGE_MEGABYTES_MAX - DEBIAN_SLIM_MEGABYTES - RUNTIME_MEGABYTES;

const isRoot = process.getuid?.() === 0;
const canUnshare = isRoot && Bun.spawnSync(['unshare', '--mount', 'true']).exitCode === 0;
if (!canUnshare) console.error('skipped: the image runs as another user on a read-only root, which takes root to try');

const folder = makeFolder('image-layout');
const app = join(folder, 'app');
beforeAll(() => layOut(app), PATIENCE_MS);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('the image has at most 250 MB', () => {
  const sizes = ['node_modules', 'src', 'workers', 'sql', 'web'].map((name) => [name, bytesOf(join(app, name))]);
  console.log(Object.fromEntries(sizes.map(([name, bytes]) => [name, `${(Number(bytes) / MEGABYTE).toFixed(1)} MB`])));
  expect(readdirSync(app).sort()).toEqual(['node_modules', 'package.json', 'sql', 'src', 'web', 'workers']);
  expect(bytesOf(app) / MEGABYTE).toBeLessThan(OWN_MEGABYTES_MAX);
});

test('every package has kept its licence, and none its types, maps and documents', () => {
  const files = [...new Bun.Glob('node_modules/**/*').scanSync({ cwd: app, dot: true, followSymlinks: false })];
  const isLicence = (file: string): boolean => /\/(?:licen[cs]e|notice)[^/]*$/i.test(file);
  expect(files.filter((file) => /\.(?:map|d\.[cm]?ts|mdx?)$/.test(file) && !isLicence(file))).toEqual([]);
  expect(files.filter(isLicence).length).toBeGreaterThan(50);
});

describe.skipIf(!canUnshare || !hasRedis || !hasRealClickHouse)('from the image', () => {
  let environment: Record<string, string>;
  let stop: () => Promise<void>;

  beforeAll(async () => {
    const [postgres, redis, clickhouse] = await Promise.all([
      startEmbeddedPostgres(folder),
      startRedis(),
      startRealClickHouse(),
    ]);
    // Its socket, for the user of the image.
    for (const place of [folder, join(folder, 'postgres')]) chmodSync(place, 0o711);
    environment = {
      NODE_ENV: 'production',
      DATA_DIR: '/tmp/ci-insights',
      DATABASE_URL: postgres.url,
      REDIS_URL: redis.url,
      CLICKHOUSE_URL: clickhouse.url(),
    };
    stop = async () => {
      await Promise.all([postgres.stop(), redis.stop(), clickhouse.stop()]);
    };
  }, PATIENCE_MS);
  afterAll(() => stop?.());

  /** A root that cannot be written, with a separate `/tmp`, and the user of the image. */
  const contained = (...args: string[]): string[] => {
    const steps = [
      'mount -t tmpfs tmpfs /tmp',
      // Folders above it are for root alone.
      `mount --bind ${app} /mnt`,
      'mount -o remount,bind,ro /mnt',
      'mount -o remount,bind,ro /',
      'cd /mnt',
      `exec setpriv --reuid 1000 --regid 1000 --clear-groups --no-new-privs --inh-caps=-all ${process.execPath} src/cli.ts "$@"`,
    ];
    return ['unshare', '--mount', 'sh', '-c', steps.join(' && '), 'sh', ...args];
  };
  const start = (args: readonly string[], own: Record<string, string> = {}) => {
    const { PATH } = machine();
    const env = { PATH: PATH ?? '', HOME: '/tmp', LOG_LEVEL: 'error', ...environment, ...own };
    return Bun.spawn(contained(...args), { env, stdout: 'pipe', stderr: 'pipe' });
  };
  const ended = async (args: readonly string[]): Promise<string> => {
    const child = start(args);
    const [out, errors] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
    expect([await child.exited, out + errors]).toEqual([0, expect.any(String)]);
    return out;
  };

  test(
    'the migration ends, an API takes an upload and serves pages, a worker stores it',
    async () => {
      await ended(['migrate']);
      const made = await ended(['keys', 'create', '--every-owner', '--scope', 'admin', '--json']);
      const key = z.object({ token: z.string() }).parse(JSON.parse(made)).token;
      const [port, apiMetrics, workerMetrics] = [await freePort(), await freePort(), await freePort()];
      const api = start(['serve'], { ROLE: 'api', PORT: String(port), METRICS_PORT: String(apiMetrics) });
      const worker = start(['worker'], { METRICS_PORT: String(workerMetrics) });
      try {
        for (const metrics of [apiMetrics, workerMetrics]) await untilReady(metrics, [api, worker]);
        const origin = `http://127.0.0.1:${port}`;
        const headers = {
          authorization: `Bearer ${key}`,
          'content-encoding': 'gzip',
          'content-type': 'application/xml',
        };
        const path = '/v1/ci/acme/repositories/shop/junit?pipeline_name=CI&job_name=unit&branch=main&run_id=1';
        const sent = await fetch(origin + path, { method: 'POST', headers, body: packedReport(500, 50) });
        expect([sent.status, await sent.clone().text()]).toEqual([202, expect.any(String)]);
        const { url } = (await sent.json()) as { url: string };
        await storedReceipt(() => fetch(url, { headers }));
        for (const page of ['/app', '/docs', '/cli/ci-insights.mjs', '/skill.md', '/admin/queues']) {
          const { status } = await fetch(origin + page, { headers: { authorization: `Bearer ${key}` } });
          expect([page, status]).toEqual([page, 200]);
        }
      } finally {
        for (const process of [api, worker]) process.kill('SIGTERM');
        await Promise.all([api.exited, worker.exited]);
      }
    },
    PATIENCE_MS,
  );
});

/** Rejects if a process ends before. */
async function untilReady(port: number, processes: readonly Bun.Subprocess<'ignore', 'pipe', 'pipe'>[]): Promise<void> {
  await until(async () => {
    for (const { exitCode, stderr } of processes)
      if (exitCode !== null) throw new Error(`ended with ${exitCode}: ${await new Response(stderr).text()}`);
    return (await fetch(`http://127.0.0.1:${port}/healthz/ready`).catch(() => undefined))?.ok;
  });
}
