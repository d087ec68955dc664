/**
 * Everything that is stored moves: from the embedded stores of a trial to servers and to a cluster by `copy`, and by `dump` and
 * `restore`. What the API answers afterwards is what it answered before.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import pg from 'pg';
import { z } from 'zod';
import { startEmbeddedPostgres } from '../../src/postgres/embedded.ts';
import { startRealCluster } from '../support/clickhouse-real/cluster.ts';
import {
  grantedUser,
  hasRealClickHouse,
  type RealClickHouse,
  startRealClickHouse,
} from '../support/clickhouse-real/server.ts';
import { makeFolder } from '../support/folder.ts';
import { liveAddressOf, type PastReport, pastOf } from '../support/past.ts';
import { CLI, ServiceProcess } from '../support/service-process.ts';
import { storedReceipt } from '../support/stored-receipt.ts';

const SHOP = { owner: 'acme', name: 'shop' };
/** Repositories with less of a past: on a cluster of two, some are on the other shard. */
const OTHERS = ['cart', 'tools', 'docs', 'pay'].map((name) => ({ owner: 'acme', name }));
const rootOf = ({ owner, name }: typeof SHOP): string => `/v1/ci/${owner}/repositories/${name}`;
const ROOT = rootOf(SHOP);
/** Two months of executions at least. */
const reports = pastOf({ seed: 7, until: Date.now(), days: 34, runsPerDay: 1, tests: 12 });

const folder = makeFolder('transfer');
const trial = join(folder, 'trial');
const targetFile = join(folder, 'target.env');

/** Runs a command on embedded stores, or on those of `environment`. */
async function run(
  environment: Record<string, string>,
  ...args: string[]
): Promise<{ code: number | null; out: string }> {
  const { PATH = '', HOME = '' } = process.env;
  const child = spawn(process.execPath, [CLI, ...args], { env: { PATH, HOME, PORT: '0', ...environment } });
  let out = '';
  child.stdout.on('data', (data: Buffer) => (out += data.toString()));
  child.stderr.on('data', (data: Buffer) => (out += data.toString()));
  const code = await new Promise<number | null>((done) => child.once('close', done));
  return { code, out };
}

const writeSettings = (file: string, settings: Readonly<Record<string, string>>): void =>
  writeFileSync(
    file,
    Object.entries(settings)
      .map(([name, value]) => `${name}=${value}\n`)
      .join(''),
  );

async function upload(
  service: ServiceProcess,
  sent: readonly PastReport[],
  repository = SHOP,
): Promise<{ accepted: number; duplicate: number }> {
  const ids: string[] = [];
  for (const report of sent) {
    const answer = await service.request(liveAddressOf(repository, report), { method: 'POST', body: report.body });
    expect(answer.status).toBe(202);
    ids.push(((await answer.json()) as { id: string }).id);
  }
  const sum = { accepted: 0, duplicate: 0 };
  for (const id of ids) {
    const { accepted, duplicate } = await storedReceipt(() => service.request(`${rootOf(repository)}/uploads/${id}`));
    sum.accepted += accepted;
    sum.duplicate += duplicate;
  }
  return sum;
}

const READS = [
  `${ROOT}/search/tests?test_name=*&per_page=100`,
  `${ROOT}/health-transitions?per_page=100`,
  `${ROOT}/quarantines`,
  `${ROOT}/causes`,
  `${ROOT}/owners`,
  `${ROOT}/pulls`,
  '/v1/repositories',
  '/v1/repos/acme/shop/logs?per_page=100',
  ...OTHERS.flatMap((other) => [
    `${rootOf(other)}/search/tests?test_name=*&per_page=100`,
    `${rootOf(other)}/health-transitions?per_page=100`,
  ]),
];

type Answer = [path: string, status: number, body: unknown];

async function answerOf(service: ServiceProcess, path: string): Promise<Answer> {
  const answer = await service.request(path);
  return [path, answer.status, await answer.json()];
}

/** Asks the API for everything that does not depend on the moment of the question. */
async function answers(service: ServiceProcess): Promise<Answer[]> {
  const found: Answer[] = [];
  for (const path of READS) found.push(await answerOf(service, path));
  const listed = z.object({ tests: z.array(z.object({ test_id: z.string() })) }).parse(found[0]?.[2]);
  for (const { test_id: id } of listed.tests)
    for (const path of [
      `${ROOT}/tests/${id}`,
      `${ROOT}/tests/${id}/executions?per_page=100`,
      `${ROOT}/tests/${id}/failures`,
    ])
      found.push(await answerOf(service, path));
  return found;
}

describe.skipIf(!hasRealClickHouse)('everything that is stored', () => {
  let clickhouse: RealClickHouse;
  let postgres: Awaited<ReturnType<typeof startEmbeddedPostgres>>;
  let target: Record<string, string>;
  const served = join(folder, 'served');
  /** The last report waits for the end. */
  const [sent, last] = [reports.slice(0, -1), reports.slice(-1)];

  beforeAll(async () => {
    clickhouse = await startRealClickHouse();
    mkdirSync(join(folder, 'server'));
    postgres = await startEmbeddedPostgres(join(folder, 'server'));
    target = { DATABASE_URL: postgres.url, CLICKHOUSE_URL: clickhouse.url(), DATA_DIR: served };
    writeSettings(targetFile, target);
    const service = ServiceProcess.onFolder(trial);
    await service.start();
    await upload(service, sent);
    for (const other of OTHERS) await upload(service, sent.slice(-8), other);
    await service.request(`${ROOT}/quarantines`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ test_name: 'shop.test 3', reason: 'fails at times' }),
    });
    expect(await service.stop()).toBe(0);
  });
  afterAll(async () => {
    await postgres.stop();
    await clickhouse.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  /** The service on the servers, with the key of the trial. */
  const onServers = (): ServiceProcess => {
    mkdirSync(served, { recursive: true });
    cpSync(join(trial, 'admin.key'), join(served, 'admin.key'));
    return new ServiceProcess('serve', { ...target, PORT: '0' });
  };

  /** Durations are counted some time after results, by either service. */
  async function expectAnswersOf(service: ServiceProcess): Promise<void> {
    const old = ServiceProcess.onFolder(trial);
    await old.start();
    try {
      let found = await answers(service);
      for (let left = 60; left > 0 && !isDeepStrictEqual(found, await answers(old)); left--) {
        await Bun.sleep(500);
        found = await answers(service);
      }
      expect(found).toEqual(await answers(old));
    } finally {
      expect(await old.stop()).toBe(0);
    }
  }

  /** Starts a service on moved stores: it answers as the old one, knows what it has, and takes what is new. */
  async function expectSameService(service: ServiceProcess): Promise<void> {
    await service.start();
    try {
      await expectAnswersOf(service);
      expect(await upload(service, sent.slice(-3))).toMatchObject({ accepted: 0 });
      expect((await upload(service, last)).accepted).toBeGreaterThan(0);
    } finally {
      expect(await service.stop()).toBe(0);
    }
  }

  test('a copy that is killed continues, both stores agree at its end, and the API answers as before', async () => {
    const copying = spawn(process.execPath, [CLI, 'copy', '--to', targetFile], {
      env: { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', DATA_DIR: trial },
    });
    await new Promise((seen) => copying.stderr.once('data', seen));
    const ended = new Promise((done) => copying.once('close', done));
    copying.kill('SIGKILL');
    await ended;
    const { code, out } = await run({ DATA_DIR: trial }, 'copy', '--to', targetFile);
    expect(out).toContain('rows, there already');
    expect(out).toContain('The stores copied from agree with');
    expect(out).toContain('The stores copied to agree with');
    expect(code).toBe(0);
    const again = await run({ DATA_DIR: trial }, 'copy', '--to', targetFile);
    expect(again.code).toBe(0);

    const service = onServers();
    await expectSameService(service);
    // A copy that someone repeats loses nothing that was taken since.
    const late = await run({ DATA_DIR: trial }, 'copy', '--to', targetFile);
    expect(late.code).toBe(1);
    expect(late.out).toContain('results that would be lost');
    expect(await run(target, 'verify')).toMatchObject({ code: 0 });
  });

  test('a copy to a cluster of two shards has each repository on its own, and the API answers as before', async () => {
    const user = grantedUser({}, /^$/, true);
    const cluster = await startRealCluster([user]);
    try {
      const admin = new pg.Client({ connectionString: postgres.url });
      await admin.connect();
      await admin.query('CREATE DATABASE on_cluster');
      await admin.end();
      const onCluster = {
        DATABASE_URL: Object.assign(new URL(postgres.url), { pathname: '/on_cluster' }).href,
        ...{ CLICKHOUSE_URL: cluster.url(user), CLICKHOUSE_CLUSTER: cluster.name },
        DATA_DIR: join(folder, 'clustered'),
      };
      const settings = join(folder, 'cluster.env');
      writeSettings(settings, onCluster);
      const copied = await run({ DATA_DIR: trial }, 'copy', '--to', settings);
      expect(copied.out).toContain('The stores copied from agree with');
      expect(copied.out).toContain('The stores copied to agree with');
      expect(copied.code).toBe(0);
      const again = await run({ DATA_DIR: trial }, 'copy', '--to', settings);
      expect([again.code, again.out]).toEqual([0, expect.stringContaining('rows, there already')]);
      for (const own of [{ DATA_DIR: trial }, onCluster]) expect(await run(own, 'verify')).toMatchObject({ code: 0 });

      const asked = 'SELECT DISTINCT repository_id FROM ci_shard.executions ORDER BY 1 FORMAT TSV';
      const [one = [], two = []] = (await cluster.ask(asked)).map((rows) => rows.split('\n').filter(Boolean));
      expect([one.length > 0, two.length > 0, new Set([...one, ...two]).size]).toEqual([
        ...[true, true],
        one.length + two.length,
      ]);
      expect(one.length + two.length).toBe(1 + OTHERS.length);

      mkdirSync(onCluster.DATA_DIR, { recursive: true });
      cpSync(join(trial, 'admin.key'), join(onCluster.DATA_DIR, 'admin.key'));
      await expectSameService(new ServiceProcess('serve', { ...onCluster, PORT: '0' }));
      expect(await run(onCluster, 'verify')).toMatchObject({ code: 0 });
    } finally {
      await cluster.stop();
    }
  });

  test('a dump restores into stores of any kind, and revoked keys stay revoked', async () => {
    const dump = join(folder, 'dump');
    const made = await run(
      { DATA_DIR: trial },
      'keys',
      'create',
      '--owner',
      'acme',
      '--scope',
      'view',
      '--name',
      'lost',
      '--json',
    );
    expect(made.code).toBe(0);
    const lost = z.object({ id: z.string() }).parse(JSON.parse(made.out));
    expect(await run({ DATA_DIR: trial }, 'dump', dump)).toMatchObject({ code: 0 });
    for (const name of readdirSync(dump)) expect(statSync(join(dump, name)).mode & 0o077).toBe(0);
    const full = await run({ DATA_DIR: trial }, 'dump', dump);
    expect(full).toMatchObject({ code: 1 });
    expect(full.out).toContain('is not empty');

    const fresh = join(folder, 'fresh');
    const restored = await run({ DATA_DIR: fresh }, 'restore', dump);
    expect(restored.out).toContain('The stores agree with');
    expect(restored.code).toBe(0);
    cpSync(join(trial, 'admin.key'), join(fresh, 'admin.key'));
    const service = ServiceProcess.onFolder(fresh);
    await expectSameService(service);

    // The servers hold another installation now, whose results would be lost.
    const refused = await run(target, 'restore', dump);
    expect(refused.code).toBe(1);
    expect(await run({ DATA_DIR: fresh }, 'keys', 'revoke', lost.id)).toMatchObject({ code: 0 });
    const replaced = await run({ DATA_DIR: fresh }, 'restore', dump, '--replace');
    expect(replaced.out).toContain('The stores agree with');
    const keys = JSON.parse((await run({ DATA_DIR: fresh }, 'keys', 'list', '--json')).out);
    const found = z
      .array(z.looseObject({ id: z.string() }))
      .parse(keys)
      .find(({ id }) => id === lost.id);
    expect(found?.revoked_at).toBeString();
  });

  test('what is no whole dump, or no settings of servers, is refused with a sentence', async () => {
    const half = join(folder, 'half');
    cpSync(join(folder, 'dump'), half, { recursive: true });
    rmSync(join(half, 'manifest.json'));
    const without = await run({ DATA_DIR: trial }, 'restore', half, '--replace');
    expect(without).toMatchObject({ code: 1 });
    expect(without.out).toContain('is not a whole dump');
    cpSync(join(folder, 'dump', 'manifest.json'), join(half, 'manifest.json'));
    rmSync(join(half, 'postgres-tests.copy.zst'));
    const lacking = await run({ DATA_DIR: trial }, 'restore', half, '--replace');
    expect(lacking.out).toContain('postgres-tests.copy.zst cannot be read. Nothing was changed.');
    // Damaged: found while it is read, so PostgreSQL has all of its rows or none of the dump.
    writeFileSync(join(half, 'postgres-tests.copy.zst'), 'not packed');
    const damaged = await run({ DATA_DIR: trial }, 'restore', half, '--replace');
    expect(damaged.code).toBe(1);
    expect(await run({ DATA_DIR: trial }, 'verify')).toMatchObject({ code: 0 });
    writeFileSync(join(half, 'manifest.json'), '{"format": 2}');
    expect((await run({ DATA_DIR: trial }, 'restore', half, '--replace')).out).toContain(
      'is not a dump of this service',
    );
    writeFileSync(join(folder, 'embedded.env'), 'DATABASE_URL=postgres://localhost/x\n');
    const embedded = await run({ DATA_DIR: trial }, 'copy', '--to', join(folder, 'embedded.env'));
    expect(embedded.out).toContain('must set DATABASE_URL and CLICKHOUSE_URL');
    expect((await run({ DATA_DIR: trial }, 'copy', '--to', join(folder, 'none'))).out).toContain('cannot be read');
    expect(await run({ DATA_DIR: trial }, 'verify')).toMatchObject({ code: 0 });
  });
});
