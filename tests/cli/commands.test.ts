/** The commands on embedded stores of their own, alone and beside a running service. */
import { afterAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { readConfig } from '../../src/config.ts';
import { openPostgresDeps } from '../../src/deps.ts';

const ROOT = resolve(import.meta.dir, '../..');
const dataDir = mkdtempSync(join(tmpdir(), 'ci-insights-cli-'));
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

const ENV = { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', DATA_DIR: dataDir };

async function cli(...args: string[]) {
  const child = Bun.spawn([process.execPath, join(ROOT, 'src/cli.ts'), ...args], {
    env: ENV,
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

describe('keys', () => {
  test('a token is shown once, at creation, and no list holds it', async () => {
    const made = await cli(
      'keys',
      'create',
      '--owner',
      'acme',
      '--scope',
      'ci',
      '--repository',
      'shop',
      '--expires',
      '90d',
      '--json',
    );
    expect(made.code).toBe(0);
    const key = JSON.parse(made.out);
    expect(key).toMatchObject({ owner: 'acme', scope: 'ci', repositories: ['shop'], state: 'active' });
    const listed = await cli('keys', 'list', '--json');
    expect(JSON.parse(listed.out)).toMatchObject([{ id: key.id, state: 'active' }]);
    expect(listed.out + (await cli('keys', 'list')).out).not.toContain(key.token);
  });

  test('a key is for one owner or for every one, and says so', async () => {
    const every = await cli('keys', 'create', '--every-owner', '--scope', 'admin', '--json');
    expect(JSON.parse(every.out)).toMatchObject({ owner: null, repositories: null, scope: 'admin' });
    for (const owners of [[], ['--owner', 'acme', '--every-owner'], ['--every-owner', '--repository', 'shop']]) {
      const refused = await cli('keys', 'create', '--scope', 'ci', ...owners);
      expect([owners, refused.code, refused.out]).toEqual([owners, 1, '']);
      expect(refused.err).toContain('--owner');
    }
  });

  test('a key is revoked once', async () => {
    const { id } = JSON.parse((await cli('keys', 'create', '--owner', 'acme', '--scope', 'admin', '--json')).out);
    expect(await cli('keys', 'revoke', id)).toMatchObject({ code: 0, out: `Key ${id} is revoked.\n` });
    expect(await cli('keys', 'revoke', id)).toMatchObject({ code: 1, out: '' });
    expect(await cli('keys', 'revoke', 'nonsense')).toMatchObject({ code: 1, out: '' });
  });
});

describe('repos', () => {
  test('settings are kept, and only those that are given change', async () => {
    await cli('repos', 'set', 'acme/shop', '--default-branch', 'trunk', '--auto-quarantine', 'flaky+broken');
    await cli('repos', 'set', 'Acme/Shop', '--flaky-detection', 'off');
    expect(JSON.parse((await cli('repos', 'list', '--json')).out)).toMatchObject([
      {
        owner: 'acme',
        name: 'shop',
        default_branch: 'trunk',
        default_branch_source: 'setting',
        flaky_detection_enabled: false,
        auto_quarantine: 'flaky+broken',
      },
    ]);
  });

  test('nothing to set is a sentence, a wrong value a usage error', async () => {
    expect(await cli('repos', 'set', 'acme/shop')).toMatchObject({ code: 1 });
    expect(await cli('repos', 'set', 'acme/shop', '--flaky-detection', 'maybe')).toMatchObject({ code: 2 });
    expect(await cli('repos', 'set', 'shop', '--flaky-detection', 'on')).toMatchObject({ code: 2 });
  });
});

test('on empty stores everything agrees, and rebuild has nothing to do', async () => {
  expect(await cli('migrate')).toMatchObject({ code: 0, err: '' });
  expect(JSON.parse((await cli('verify', '--json')).out)).toMatchObject({ is_consistent: true, executions: 0 });
  expect(await cli('rebuild')).toMatchObject({ code: 0 });
  expect(await cli('dead-letters', 'list')).toMatchObject({ code: 0, out: 'There are no dead letters.\n' });
});

test('a dead letter is replayed once', async () => {
  const deps = await openPostgresDeps(readConfig({ DATA_DIR: dataDir, LOG_LEVEL: 'error' }));
  await deps.deadLetters.add('test-runs', 'upload-0', null, { v: 9 }, 'v must be 1');
  await deps.close();
  const [letter] = JSON.parse((await cli('dead-letters', 'list', '--json')).out);
  expect(letter).toMatchObject({ queue: 'test-runs', job_id: 'upload-0', reason: 'v must be 1' });
  expect(await cli('dead-letters', 'replay')).toMatchObject({ code: 1 });
  expect(await cli('dead-letters', 'replay', letter.id)).toMatchObject({ code: 0, out: '1 job back in the queue.\n' });
  expect(await cli('dead-letters', 'replay', letter.id)).toMatchObject({ code: 1, out: '' });
});

test('beside a running service keys and settings work, and what needs its ClickHouse says how to go on', async () => {
  const service = Bun.spawn([process.execPath, join(ROOT, 'src/cli.ts'), 'serve'], {
    env: { ...ENV, PORT: '0' },
    stdout: 'pipe',
    stderr: 'ignore',
  });
  const { value: ready } = await service.stdout.getReader().read();
  expect(new TextDecoder().decode(ready)).toContain(`admin key in ${join(dataDir, 'admin.key')}`);
  expect(statSync(join(dataDir, 'admin.key')).mode & 0o777).toBe(0o600);
  expect((await cli('keys', 'create', '--owner', 'acme', '--scope', 'ci')).code).toBe(0);
  expect((await cli('repos', 'set', 'acme/beside', '--flaky-detection', 'off')).code).toBe(0);
  expect((await cli('dead-letters', 'replay', '--all')).code).toBe(0);
  const refused = await cli('verify');
  expect(refused.code).toBe(1);
  expect(refused.err).toContain('Stop it first');
  expect(refused.err.trim().split('\n')).toHaveLength(1);
  service.kill('SIGTERM');
  expect(await service.exited).toBe(0);
  expect((await cli('verify')).code).toBe(0);
});

test('a wrong configuration is told without a stack, all at once', async () => {
  const child = Bun.spawn([process.execPath, join(ROOT, 'src/cli.ts'), 'serve'], {
    env: { ...ENV, PORT: '70000', ROLE: 'both' },
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const err = await new Response(child.stderr).text();
  expect(err).toContain('PORT must be');
  expect(err).toContain('ROLE must be');
  expect(err).not.toContain('    at ');
  expect(await child.exited).toBe(1);
});
