/** The commands on embedded stores, alone and beside a running service. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { rmSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { readConfig } from '../../src/config.ts';
import { openPostgresDeps } from '../../src/deps.ts';
import { OUTBOX_CONSUMERS } from '../../src/postgres/outbox-consumers.ts';
import { outboxConsumers } from '../../src/postgres/schema.ts';
import { makeFolder } from '../support/folder.ts';
import { ServiceProcess } from '../support/service-process.ts';

const CLI = resolve(import.meta.dir, '../../src/cli.ts');
const folder = makeFolder('cli');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs a command on a data folder. */
async function runOn(dataDir: string, args: readonly string[], environment: Record<string, string> = {}) {
  const { PATH = '', HOME = '' } = process.env;
  const child = Bun.spawn([process.execPath, CLI, ...args], {
    env: { PATH, HOME, DATA_DIR: dataDir, ...environment },
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { out, err, code };
}

const dataDir = join(folder, 'data');
const run = (...args: string[]) => runOn(dataDir, args);
beforeAll(async () => {
  expect(await run('migrate')).toMatchObject({ code: 0, err: '' });
});

describe('on new stores', () => {
  test('everything agrees, and rebuild has nothing to do', async () => {
    expect(JSON.parse((await run('verify', '--json')).out)).toMatchObject({ is_consistent: true, executions: 0 });
    expect(await run('rebuild')).toMatchObject({ code: 0 });
    expect(await run('dead-letters', 'list')).toMatchObject({ code: 0, out: 'There are no dead letters.\n' });
  });

  test('opening them registers the consumers of the outbox, and leaves those of other versions', async () => {
    const config = readConfig({ DATA_DIR: dataDir, LOG_LEVEL: 'error' });
    const consumers = async (changed?: string): Promise<string[]> => {
      const deps = await openPostgresDeps(config);
      try {
        if (changed) await deps.postgres.pool.query(changed);
        const rows = await deps.postgres.db.select().from(outboxConsumers);
        return rows.map(({ name }) => name);
      } finally {
        await deps.close();
      }
    };
    expect(await consumers("update ci_insights.outbox_consumers set name = 'of another version'")).toEqual([
      'of another version',
    ]);
    await run('verify');
    expect((await consumers()).toSorted()).toEqual(['of another version', ...OUTBOX_CONSUMERS].toSorted());
    await consumers("delete from ci_insights.outbox_consumers where name = 'of another version'");
  });

  test('a dead letter is replayed once', async () => {
    // The commands use this PostgreSQL while it runs. No worker does, so what is replayed stays in the queue.
    const deps = await openPostgresDeps(readConfig({ DATA_DIR: dataDir, LOG_LEVEL: 'error' }));
    try {
      await deps.deadLetters.add('test-runs', 'upload-0', null, { v: 9 }, 'v must be 1');
      const [letter] = JSON.parse((await run('dead-letters', 'list', '--json')).out);
      expect(letter).toMatchObject({ queue: 'test-runs', job_id: 'upload-0', reason: 'v must be 1' });
      expect(await run('dead-letters', 'replay')).toMatchObject({ code: 1 });
      expect(await run('dead-letters', 'replay', letter.id)).toMatchObject({
        code: 0,
        out: '1 job back in the queue.\n',
      });
      expect(await run('dead-letters', 'replay', letter.id)).toMatchObject({ code: 1, out: '' });
      expect(await run('dead-letters', 'replay', '--all')).toMatchObject({ code: 0 });
    } finally {
      await deps.close();
    }
  });
});

test('a wrong configuration is reported at once, every fault of it, without a stack', async () => {
  const { err, code } = await runOn(join(folder, 'wrong'), ['serve'], { PORT: '70000', ROLE: 'both' });
  expect(err).toContain('PORT must be');
  expect(err).toContain('ROLE must be');
  expect(err).not.toContain('    at ');
  expect(code).toBe(1);
});

describe('beside a running service', () => {
  const service = ServiceProcess.onFolder(dataDir);
  let explained = '';
  let verified = '';
  beforeAll(() => service.start());
  afterAll(() => service.stop());

  test('the first start made an admin key that only its owner can read', () => {
    expect(service.written).toContain(`admin key in ${join(dataDir, 'admin.key')}`);
    expect(statSync(join(dataDir, 'admin.key')).mode & 0o777).toBe(0o600);
  });

  test('the token of a key is shown once, at creation, and no list contains it', async () => {
    const asked = ['--owner', 'acme', '--scope', 'ci', '--repository', 'shop', '--expires', '90d', '--json'];
    const made = await run('keys', 'create', ...asked);
    expect(made.code).toBe(0);
    const key = JSON.parse(made.out);
    expect(key).toMatchObject({ owner: 'acme', scope: 'ci', repositories: ['shop'], state: 'active' });
    const listed = await run('keys', 'list', '--json');
    expect(JSON.parse(listed.out)).toContainEqual(expect.objectContaining({ id: key.id, state: 'active' }));
    expect(listed.out + (await run('keys', 'list')).out).not.toContain(key.token);
  });

  test('a key is for one owner or for every owner, and says so', async () => {
    const every = await run('keys', 'create', '--every-owner', '--scope', 'admin', '--json');
    expect(JSON.parse(every.out)).toMatchObject({ owner: null, repositories: null, scope: 'admin' });
    for (const owners of [[], ['--owner', 'acme', '--every-owner'], ['--every-owner', '--repository', 'shop']]) {
      const refused = await run('keys', 'create', '--scope', 'ci', ...owners);
      expect([owners, refused.code, refused.out]).toEqual([owners, 1, '']);
      expect(refused.err).toContain('--owner');
    }
  });

  test('a key is revoked once', async () => {
    const { id } = JSON.parse((await run('keys', 'create', '--owner', 'acme', '--scope', 'admin', '--json')).out);
    expect(await run('keys', 'revoke', id)).toMatchObject({ code: 0, out: `Key ${id} is revoked.\n` });
    expect(await run('keys', 'revoke', id)).toMatchObject({ code: 1, out: '' });
    expect(await run('keys', 'revoke', 'nonsense')).toMatchObject({ code: 1, out: '' });
  });

  test('settings of a repository are kept, and only those that are given change', async () => {
    const branch = ['--default-branch', 'trunk', '--auto-quarantine', 'flaky+broken'];
    const unknown = await run('repos', 'set', 'acme/shop', ...branch);
    expect([unknown.code, unknown.err]).toEqual([1, expect.stringContaining('There is no repository acme/shop yet.')]);
    await run('repos', 'set', 'acme/shop', ...branch, '--create');
    const more = ['--reruns', '10', '--quarantine-limit', '20'];
    await run('repos', 'set', 'Acme/Shop', '--flaky-detection', 'off', ...more);
    expect(JSON.parse((await run('repos', 'list', '--json')).out)).toMatchObject([
      {
        owner: 'acme',
        name: 'shop',
        default_branch: 'trunk',
        default_branch_source: 'setting',
        flaky_detection_enabled: false,
        auto_quarantine: 'flaky+broken',
        rerun_percent: 10,
        quarantine_limit: 20,
        quarantine_warning_days: 3,
      },
    ]);
    await run('repos', 'set', 'acme/shop', '--quarantine-limit', 'off');
    expect(JSON.parse((await run('repos', 'list', '--json')).out)).toMatchObject([{ quarantine_limit: null }]);
  });

  test('nothing to set is a sentence, a wrong value a usage error', async () => {
    expect(await run('repos', 'set', 'acme/shop')).toMatchObject({ code: 1 });
    expect(await run('repos', 'set', 'acme/shop', '--flaky-detection', 'maybe')).toMatchObject({ code: 2 });
    expect(await run('repos', 'set', 'shop', '--flaky-detection', 'on')).toMatchObject({ code: 2 });
    expect(await run('repos', 'set', 'acme/shop', '--quarantine-limit', '0')).toMatchObject({ code: 2 });
  });

  test('explain asks the service that uses the folder, or the one it is told, and both say the same', async () => {
    const report = join(folder, 'report.xml');
    await Bun.write(
      report,
      '<testsuite name="cart"><testcase classname="Cart" name="sums *"><failure message="no"/></testcase></testsuite>',
    );
    const told = { CI_INSIGHTS_URL: service.origin, CI_INSIGHTS_TOKEN: service.adminToken };
    const push = ['push', 'junit', report, '--repo', 'acme/explained', '--pipeline', 'CI', '--job', 'unit'];
    expect(await runOn(dataDir, [...push, '--run-id', '7', '--commit', 'c7', '--branch', 'main'], told)).toMatchObject({
      code: 0,
    });
    const explain = ['explain', 'acme/explained', 'Cart.sums *'];
    const found = await run(...explain);
    expect([found.code, found.err]).toEqual([0, '']);
    explained = found.out;
    expect(explained).toContain('broken with a probability of');
    expect(explained).toContain('run 7 attempt 1, commit c7');
    expect(await runOn(join(folder, 'elsewhere'), explain, told)).toEqual(found);
    expect(JSON.parse((await run(...explain, '--json')).out)).toMatchObject({ health_status: 'broken' });
    for (const [arguments_, sentence] of [
      [['Cart.sums'], "No passed or failed execution of 'Cart.sums' is retained on the default branch"],
      [['Cart.sums *', '--as-of', '2001-01-01T00:00:00Z'], 'that had finished by 2001-01-01T00:00:00Z'],
    ] as const) {
      const refused = await run('explain', 'acme/explained', ...arguments_);
      expect([refused.code, refused.out]).toEqual([1, '']);
      expect(refused.err).toContain(sentence);
    }
    const wrong = await runOn(dataDir, explain, { ...told, CI_INSIGHTS_TOKEN: 'cii_wrong' });
    expect([wrong.code, wrong.err]).toEqual([1, expect.stringContaining('unknown, expired or revoked')]);
  });

  test('verify asks the service that uses the folder', async () => {
    const found = await run('verify');
    expect([found.code, found.err]).toEqual([0, '']);
    verified = found.out;
    expect(verified).toContain('All derived tables agree with 1 execution.');
  });

  // The last one: the service is stopped.
  test('a command that needs its ClickHouse says to stop it first, and then works', async () => {
    const refused = await run('rebuild');
    expect(refused.code).toBe(1);
    expect(refused.err).toContain('Stop it first');
    expect(refused.err.trim().split('\n')).toHaveLength(1);
    expect(await service.stop()).toBe(0);
    expect((await run('verify')).out.split('\n').toSorted()).toEqual(verified.split('\n').toSorted());
    expect((await run('rebuild')).code).toBe(0);
    expect((await run('explain', 'acme/explained', 'Cart.sums *')).out).toBe(explained);
  });
});
