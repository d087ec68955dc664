/** Findings of the doctor, on stores that are healthy, down, or misconfigured. */
import { describe, expect, test } from 'bun:test';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { createServer as createTlsServer, TLSSocket } from 'node:tls';
import { Redis } from 'ioredis';
import { z } from 'zod';
import { openClickHouse } from '../../src/clickhouse/client.ts';
import { migrateClickHouse } from '../../src/clickhouse/migrate.ts';
import { readConfig } from '../../src/config.ts';
import { checkClickHouse } from '../../src/operate/doctor/clickhouse.ts';
import { examine } from '../../src/operate/doctor/examine.ts';
import type { Finding } from '../../src/operate/doctor/finding.ts';
import { startClickHouseServer } from '../support/clickhouse-http.ts';
import { isRemedied } from '../support/findings.ts';
import { makeFolder } from '../support/folder.ts';
import { hasRedis, startRedis } from '../support/redis.ts';
import { emptyStores, openTestStores } from '../support/stores.ts';

const levelOf = (findings: readonly Finding[], check: string) =>
  findings.find((finding) => finding.check === check)?.level;

const hasOpenSsl = Bun.which('openssl') !== null;
if (!hasOpenSsl) console.error('skipped: a certificate needs openssl');

describe('doctor', () => {
  test('beside a process that uses the embedded stores it finds no problem, and leaves them running', async () => {
    const stores = await openTestStores();
    const { config, postgres } = stores;
    // Events that another file of tests left behind would be a problem.
    await emptyStores(stores);
    const findings = await examine(config);
    expect(findings.filter(({ level }) => level === 'problem')).toEqual([]);
    for (const check of [
      'PostgreSQL migrations',
      'PostgreSQL permissions',
      'PostgreSQL clock',
      'Queue',
      'Data folder disk',
    ])
      expect([check, levelOf(findings, check)]).toEqual([check, 'ok']);
    expect(isRemedied(findings)).toBe(true);
    expect(await postgres.ping()).toBe(true);
  });

  test('before the first start it finds no problem, and creates nothing', async () => {
    const folder = makeFolder('doctor');
    try {
      const findings = await examine(readConfig({ DATA_DIR: join(folder, 'data') }));
      expect(findings.filter(({ level }) => level === 'problem')).toEqual([]);
      expect(await Array.fromAsync(new Bun.Glob('**').scan({ cwd: folder, onlyFiles: false }))).toEqual([]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test('every store that is down is a separate problem with a remedy, and no password is shown', async () => {
    const findings = await examine(
      readConfig({
        DATABASE_URL: 'postgresql://user:a-password@127.0.0.1:1/ci',
        REDIS_URL: 'redis://:a-password@127.0.0.1:1',
        CLICKHOUSE_URL: 'http://user:a-password@127.0.0.1:1',
      }),
    );
    for (const check of ['PostgreSQL', 'Queue', 'ClickHouse'])
      expect([check, levelOf(findings, check)]).toEqual([check, 'problem']);
    expect(isRemedied(findings)).toBe(true);
    expect(JSON.stringify(findings)).not.toContain('a-password');
  });

  test.skipIf(!hasRedis)(
    'a Redis that may evict jobs is a problem, and one without persistence a warning',
    async () => {
      const { config, databaseUrl } = await openTestStores();
      const redis = await startRedis();
      const client = new Redis(redis.url);
      try {
        const look = () => examine({ ...config, databaseUrl, redisUrl: redis.url });
        expect(levelOf(await look(), 'Redis memory policy')).toBe('ok');
        await client.config('SET', 'maxmemory-policy', 'allkeys-lru');
        await client.config('SET', 'appendonly', 'no');
        const findings = await look();
        expect(levelOf(findings, 'Redis memory policy')).toBe('problem');
        expect(levelOf(findings, 'Redis persistence')).toBe('warning');
        expect(levelOf(findings, 'Redis clock')).toBe('ok');
      } finally {
        await client.quit();
        await redis.stop();
      }
    },
  );

  test('a table of ClickHouse that acknowledges before it is on disk is a warning; the migrations leave none', async () => {
    const { clickhouse } = await openTestStores();
    const look = async () =>
      (await checkClickHouse(clickhouse, false)).find(({ check }) => check === 'ClickHouse durability');
    expect(await look()).toMatchObject({ level: 'ok' });
    const set = (value: number) =>
      clickhouse.command(`ALTER TABLE ci.events MODIFY SETTING fsync_after_insert = ${value}`);
    await set(0);
    try {
      expect(await look()).toMatchObject({ level: 'warning', message: expect.stringMatching(/in events\.$/) });
    } finally {
      await set(1);
    }
  });

  test('on a migrated cluster it finds all migrations, and no problem', async () => {
    const server = await startClickHouseServer({ isCluster: true });
    const clickhouse = await openClickHouse({ url: server.url, path: '', cluster: 'one' });
    try {
      await migrateClickHouse(clickhouse);
      const findings = await checkClickHouse(clickhouse, true);
      expect(findings.filter(({ level }) => level !== 'ok')).toEqual([]);
      expect(levelOf(findings, 'ClickHouse migrations')).toBe('ok');
    } finally {
      await clickhouse.close();
      await server.stop();
    }
  });

  test.skipIf(!hasOpenSsl)(
    'a store whose certificate no known authority has signed is told from one that is down',
    async () => {
      const folder = makeFolder('tls');
      const request = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=localhost'];
      const made = Bun.spawnSync(['openssl', ...request, '-keyout', 'key.pem', '-out', 'cert.pem'], { cwd: folder });
      expect(made.exitCode).toBe(0);
      const [key, cert] = ['key.pem', 'cert.pem'].map((name) => readFileSync(join(folder, name)));
      const https = Bun.serve({ port: 0, tls: { key, cert }, fetch: () => new Response('Ok.') });
      const ignore = () => {};
      const redis = createTlsServer({ key, cert }, (socket) => socket.on('error', ignore)).on('tlsClientError', ignore);
      // PostgreSQL's clients ask in plain text whether it speaks TLS.
      const postgres = createServer((socket) => {
        socket.on('error', ignore).once('data', () => {
          socket.write('S');
          new TLSSocket(socket, { isServer: true, key, cert }).on('error', ignore);
        });
      });
      const portOf = async (server: Server) => {
        await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
        return z.object({ port: z.number() }).parse(server.address()).port;
      };
      try {
        const findings = await examine(
          readConfig({
            DATABASE_URL: `postgresql://user@localhost:${await portOf(postgres)}/ci?sslmode=verify-full`,
            REDIS_URL: `rediss://localhost:${await portOf(redis)}`,
            CLICKHOUSE_URL: `https://localhost:${https.port}`,
          }),
        );
        for (const check of ['PostgreSQL', 'Queue', 'ClickHouse'])
          expect(findings.find((finding) => finding.check === check)).toMatchObject({
            level: 'problem',
            message: expect.stringContaining('self signed certificate'),
            remedy: expect.stringContaining('NODE_EXTRA_CA_CERTS'),
          });
      } finally {
        await https.stop(true);
        redis.close();
        postgres.close();
        rmSync(folder, { recursive: true });
      }
    },
  );

  test('an embedded PostgreSQL that is gone beside a ClickHouse that is there is a problem, not a first start', async () => {
    const dataDir = makeFolder('lost');
    mkdirSync(join(dataDir, 'clickhouse'));
    try {
      const findings = await examine(readConfig({ DATA_DIR: dataDir }));
      expect(findings.find(({ check }) => check === 'PostgreSQL')).toMatchObject({
        level: 'problem',
        remedy: expect.stringContaining('If PostgreSQL is lost'),
      });
    } finally {
      rmSync(dataDir, { recursive: true });
    }
  });

  test('an address where something else answers is distinguished from the service', async () => {
    const other = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => Response.json({ status: 'fine' }) });
    try {
      const { config } = await openTestStores();
      const publicUrl = `http://127.0.0.1:${other.port}`;
      const findings = await examine({ ...config, publicUrl });
      expect(findings.find(({ check }) => check === 'Public address')?.message).toContain('Something else');
    } finally {
      await other.stop(true);
    }
  });
});
