/** What the doctor finds, on stores that are well, away, or not as they should be. */
import { describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { Redis } from 'ioredis';
import { readConfig } from '../../src/config.ts';
import { examine } from '../../src/operate/doctor/examine.ts';
import type { Finding } from '../../src/operate/doctor/finding.ts';
import {
  clockFinding,
  diskFinding,
  evictionFinding,
  lagFinding,
  migrationsFinding,
  versionFinding,
} from '../../src/operate/doctor/rules.ts';
import { compareByNumbers } from '../../src/versions.ts';
import { hasRedis, startRedis } from '../support/redis.ts';
import { openTestStores } from '../support/stores.ts';

const GIB = 1024 ** 3;
const remedied = (findings: readonly Finding[]): boolean =>
  findings.every(({ level, remedy }) => (level === 'ok') === (remedy === undefined));
const levelOf = (findings: readonly Finding[], check: string) =>
  findings.find((finding) => finding.check === check)?.level;

describe('the rules', () => {
  test('versions are compared by number, part by part', () => {
    const version = fc.array(fc.nat(30), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(version, version, (a, b) => {
        const sign = Math.sign(compareByNumbers(a.join('.'), b.join('.')));
        const width = Math.max(a.length, b.length);
        const padded = (parts: number[]) =>
          Array.from({ length: width }, (_, i) => String(parts[i] ?? 0).padStart(3, '0')).join('.');
        expect(sign).toBe(padded(a) < padded(b) ? -1 : padded(a) > padded(b) ? 1 : 0);
      }),
    );
    expect(compareByNumbers('18.4 (Debian 18.4-1)', '18.4')).toBe(0);
  });

  test.each([
    ['PostgreSQL', '13.9', 'problem'],
    ['PostgreSQL', '14.0', 'ok'],
    ['PostgreSQL', '18.4', 'ok'],
    ['PostgreSQL', '19.0', 'warning'],
    ['Redis', '4.0.14', 'problem'],
    ['Redis', '6.0.9', 'warning'],
    ['Redis', '7.2.4', 'ok'],
    ['ClickHouse', '24.3.1', 'problem'],
    ['ClickHouse', '26.7.2.1', 'ok'],
  ] as const)('%s %s is %s', (product, version, level) => {
    expect(versionFinding(product, version).level).toBe(level);
  });

  test('a clock, a disk, a backlog and migrations get worse by steps, and whatever is wrong comes with what to do', () => {
    const findings = [
      ...[0, -1_999, 2_000, -60_000].map((ms) => clockFinding('PostgreSQL', ms)),
      ...[6 * GIB, 4 * GIB, GIB - 1].map((bytes) => diskFinding('Data folder', bytes)),
      ...[0, 59, 60, 600].map((seconds) => lagFinding('Queue', 'job', 3, seconds, 'Look.')),
      lagFinding('Queue', 'job', 0, 9_999, 'Look.'),
      ...[2, 1, 3].map((done) => migrationsFinding('PostgreSQL', done, 2)),
      ...['noeviction', 'allkeys-lru'].map(evictionFinding),
    ];
    expect(findings.map(({ level }) => level)).toEqual([
      ...(['ok', 'ok', 'warning', 'problem'] as const),
      ...(['ok', 'warning', 'problem'] as const),
      ...(['ok', 'ok', 'warning', 'problem'] as const),
      'ok',
      ...(['ok', 'problem', 'problem'] as const),
      ...(['ok', 'problem'] as const),
    ]);
    expect(remedied(findings)).toBe(true);
  });
});

describe('doctor', () => {
  test('beside what uses the embedded stores it finds no problem, and leaves them running', async () => {
    const { config, postgres } = await openTestStores();
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
    expect(remedied(findings)).toBe(true);
    expect(await postgres.ping()).toBe(true);
  });

  test('before the first start there is nothing wrong, and nothing is made', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'ci-insights-doctor-'));
    try {
      const findings = await examine(readConfig({ DATA_DIR: join(folder, 'data') }));
      expect(findings.filter(({ level }) => level === 'problem')).toEqual([]);
      expect(await Array.fromAsync(new Bun.Glob('**').scan({ cwd: folder, onlyFiles: false }))).toEqual([]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test('every store that is away is a problem of its own with what to do, and no password is shown', async () => {
    const findings = await examine(
      readConfig({
        DATABASE_URL: 'postgresql://user:a-password@127.0.0.1:1/ci',
        REDIS_URL: 'redis://:a-password@127.0.0.1:1',
        CLICKHOUSE_URL: 'http://user:a-password@127.0.0.1:1',
      }),
    );
    for (const check of ['PostgreSQL', 'Queue', 'ClickHouse'])
      expect([check, levelOf(findings, check)]).toEqual([check, 'problem']);
    expect(remedied(findings)).toBe(true);
    expect(JSON.stringify(findings)).not.toContain('a-password');
  });

  test.skipIf(!hasRedis)(
    'a Redis that may throw jobs away is a problem, and its lack of a file a warning',
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

  test('an address that belongs to something else is told from the service', async () => {
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
