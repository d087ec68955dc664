/** `apply` makes what its file says, changes what differs from it, and nothing else. */
import { beforeAll, expect, test } from 'bun:test';
import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { z } from 'zod';
import { existingIn, makeChange } from '../../src/cli/apply-changes.ts';
import { readApplyFile, tokenHashIn } from '../../src/cli/apply-file.ts';
import type { DeclaredRepository } from '../../src/domain/apply-file.ts';
import { type DeclaredKey, planOf } from '../../src/domain/apply-plan.ts';
import { applyReportSchema } from '../../src/domain/apply-report.ts';
import { KEY_SCOPES } from '../../src/domain/key-scope.ts';
import { AUTO_QUARANTINE_MODES } from '../../src/domain/quarantine-rules.ts';
import type { SettingsChange } from '../../src/domain/repository-settings.ts';
import { columnsOf, DEFAULT_SETTINGS, settingsOf } from '../../src/postgres/repositories.ts';
import { inBudget } from '../support/budget.ts';
import { makeFolder } from '../support/folder.ts';
import { ROOT, runCommand } from '../support/service-process.ts';
import { openTestStores, type TestStores, uniqueRepository } from '../support/stores.ts';

const folder = makeFolder('apply');
const newToken = () => `cii_${randomBytes(32).toString('hex')}`;
let stores: TestStores;
beforeAll(async () => {
  stores = await openTestStores();
});

/** Applies a file; returns its exit code and its lines. */
const apply = (text: string, ...options: string[]) => {
  const file = join(folder, 'config.yaml');
  writeFileSync(file, text);
  const { code, out } = runCommand(stores.config.dataDir, 'apply', file, ...options);
  return { code, lines: out.trimEnd().split('\n') };
};

/** Another owner and token for each test: they share their stores. */
const unique = () => {
  const { owner: shared, name } = uniqueRepository();
  const owner = `${shared}-${name}`.slice(0, 40);
  const token = newToken();
  writeFileSync(join(folder, name), `${token}\n`);
  return { owner, name, token, path: `${owner}/${name}` };
};

test('the example of the documents can be applied, and a second time changes nothing', async () => {
  const [, example = ''] = /```yaml\n([\s\S]*?)```/.exec(readFileSync(join(ROOT, 'docs/apply.md'), 'utf8')) ?? [];
  const { owner, name } = unique();
  // Under names of this test: others use the same stores.
  const text = example
    .replaceAll('acme/', `${owner}/`)
    .replaceAll('owner: acme', `owner: ${owner}`)
    .replace(/[0-9a-f]{64}/, randomBytes(32).toString('hex'))
    .replaceAll('keys/', `keys-${name}/`);
  mkdirSync(join(folder, `keys-${name}`));
  const [platform, ci] = [newToken(), newToken()];
  writeFileSync(join(folder, `keys-${name}`, 'platform'), platform);
  writeFileSync(join(folder, `keys-${name}`, 'acme-ci'), ci);

  expect(apply(text, '--check')).toMatchObject({ code: 3 });
  expect(await stores.keys.authenticate(platform)).toBeUndefined();
  const first = apply(text);
  expect([first.code, first.lines.at(-1)]).toEqual([0, '6 changes made.']);
  expect(apply(text)).toEqual({ code: 0, lines: ['There is no difference.'] });
  expect(apply(text, '--check').code).toBe(0);

  stores.repositories.forget({ owner, name: 'cart' });
  const cart = await stores.repositories.find(owner, 'cart');
  expect(cart && settingsOf(cart)).toMatchObject({ auto_quarantine: 'flaky', event_retention_days: 30 });
  expect(await stores.repositories.find(owner, 'tools')).toBeDefined();
});

test('a token of the file opens the service, and its key has the rights of the file', async () => {
  const { owner, name, token } = unique();
  const text = `keys:\n  ${name}: { scope: upload, owner: ${owner}, branches: [main], token_file: ${name} }`;
  expect(apply(text)).toMatchObject({ code: 0 });
  expect(await stores.keys.authenticate(token)).toMatchObject({
    ...{ name, owner, scope: 'upload', madeBy: 'ci-insights apply', bounds: { branches: ['main'] } },
  });
});

test('what was changed by hand is changed back, what the file leaves out is not, and the trail has it all', async () => {
  const { owner, name, path } = unique();
  const text = `repositories:\n  ${path}: { default_branch: main, auto_quarantine: flaky }`;
  expect(apply(text).lines).toEqual([
    `+ repository ${path}`,
    '    default_branch "main"',
    '    auto_quarantine "flaky"',
    '1 change made.',
  ]);
  const set = runCommand(
    stores.config.dataDir,
    ...['repos', 'set', path, '--auto-quarantine', 'off', '--quarantine-limit', '7'],
  );
  expect(set.code).toBe(0);
  expect(apply(text).lines).toEqual([`~ repository ${path}`, '    auto_quarantine "off" → "flaky"', '1 change made.']);
  stores.repositories.forget({ owner, name });
  const found = await stores.repositories.find(owner, name);
  expect(found && settingsOf(found)).toMatchObject({ auto_quarantine: 'flaky', quarantine_limit: 7 });

  expect(apply(text, '--prune').lines).toEqual([
    `~ repository ${path}`,
    '    quarantine_limit 7 → null',
    '1 change made.',
  ]);
  const { out } = runCommand(stores.config.dataDir, 'audit', '--repo', path, '--json');
  const entries = z.array(z.looseObject({ action: z.string(), actor: z.looseObject({ name: z.string() }) }));
  expect(entries.parse(JSON.parse(out)).map(({ action, actor }) => [action, actor.name])).toEqual([
    ['repository.settings', 'ci-insights apply'],
    ['repository.settings', 'ci-insights apply'],
    ['repository.settings', 'ci-insights repos set'],
    ['repository.settings', 'ci-insights apply'],
    ['repository.create', 'ci-insights apply'],
  ]);
});

test('with --json, one object tells the difference and what became of it, and no token', async () => {
  const { owner, name, token, path } = unique();
  const text = `keys:
  ${name}: { scope: view, owner: ${owner}, expires_at: 2099-12-31, token_file: ${name} }
repositories:
  ${path}: { default_branch: main, quarantine_limit: 20 }`;
  const hash = new Bun.CryptoHasher('sha256').update(token).digest('hex');
  const report = (...options: string[]) => {
    const { code, lines } = apply(text, '--json', ...options);
    for (const secret of [token, hash]) expect(lines.join()).not.toContain(secret);
    return { code, ...applyReportSchema.parse(JSON.parse(lines.join('\n'))) };
  };
  const changes = (is_made: boolean) => [
    {
      ...{ kind: 'make key', is_made, name, scope: 'view', owner, repositories: null, pull_requests_only: false },
      ...{ branches: null, expires_at: '2099-12-31T00:00:00.000Z' },
    },
    {
      ...{ kind: 'add repository', is_made, repository: path, host: null },
      settings: { default_branch: 'main', quarantine_limit: 20 },
    },
  ];
  expect(report('--dry-run')).toMatchObject({ code: 0, result: 'differs', changes: changes(false), refusals: [] });
  expect(report('--check')).toMatchObject({ code: 3, result: 'differs', changes: changes(false) });
  expect(report()).toMatchObject({ code: 0, result: 'applied', changes: changes(true) });
  for (const options of [[], ['--check'], ['--dry-run']])
    expect(report(...options)).toMatchObject({ code: 0, result: 'unchanged', changes: [] });

  const set = ['--default-branch', 'trunk', '--quarantine-limit', '7'];
  expect(runCommand(stores.config.dataDir, 'repos', 'set', path, ...set).code).toBe(0);
  const change = {
    ...{ kind: 'change repository', repository: path, needs_rebuild: true },
    before: { default_branch: 'trunk', quarantine_limit: 7 },
    settings: { default_branch: 'main', quarantine_limit: 20 },
  };
  expect(report('--check')).toMatchObject({ code: 3, changes: [{ ...change, is_made: false }] });
  expect(report()).toMatchObject({ code: 0, changes: [{ ...change, is_made: true }] });
  expect(report()).toMatchObject({ result: 'unchanged' });

  const key = (await stores.keys.list()).find((one) => one.name === name);
  const named = { id: key?.id ?? '', name };
  const without = apply('keys:', '--json', '--check').lines.join('\n');
  expect(applyReportSchema.parse(JSON.parse(without)).left).toContainEqual(named);
  const pruned = applyReportSchema.parse(JSON.parse(apply('keys:', '--json', '--prune', '--dry-run').lines.join('\n')));
  expect(pruned.left).toEqual([]);
  expect(pruned.changes).toContainEqual({ kind: 'revoke key', is_made: false, ...named, reason: 'not in the file' });
});

test('a refusal is in the report too, and a faulty file makes none', () => {
  const { owner, name, path } = unique();
  const text = (scope: string) => `keys:\n  ${name}: { scope: ${scope}, owner: ${owner}, token_file: ${name} }`;
  expect(apply(text('view')).code).toBe(0);
  const { code, lines } = apply(`${text('admin')}\nrepositories:\n  ${path}:`, '--json');
  const end = lines.indexOf('}') + 1;
  expect([code, applyReportSchema.parse(JSON.parse(lines.slice(0, end).join('\n')))]).toMatchObject([
    1,
    { result: 'refused', changes: [{ kind: 'add repository', is_made: false }], refusals: [expect.any(String)] },
  ]);
  // On standard error, as without --json.
  expect(lines.slice(end)).toEqual([expect.stringContaining(`The key ${name}: its token`), 'Nothing was changed.']);
  expect(apply('keyz:', '--json').lines).toEqual([expect.stringContaining(':1: keyz is unknown')]);
});

test('the report in the documents is one', () => {
  const [, example = ''] = /```json\n([\s\S]*?)```/.exec(readFileSync(join(ROOT, 'docs/apply.md'), 'utf8')) ?? [];
  expect(applyReportSchema.parse(JSON.parse(example))).toMatchObject({ result: 'applied' });
});

test('a default branch of the file holds, even if an upload had named the same', async () => {
  const { owner, name, path } = unique();
  const learned = await stores.repositories.record({ host: 'github.com', owner, name });
  await stores.repositories.learnDefaultBranch(learned, 'main', 'payload');
  const text = `repositories:\n  ${path}: { default_branch: main }`;
  expect(apply(text).code).toBe(0);
  expect(apply(text).lines).toEqual(['There is no difference.']);
  stores.repositories.forget({ owner, name });
  expect(await stores.repositories.find(owner, name)).toMatchObject({ defaultBranchSource: 'setting' });
});

test('another token replaces a key; a key that the file no longer names goes with --prune only', async () => {
  const { owner, name, token } = unique();
  const text = `keys:\n  ${name}: { scope: ci, owner: ${owner}, token_file: ${name} }`;
  expect(apply(text).code).toBe(0);
  const byHand = await stores.keys.create({ name, owner, scope: 'ci', repositories: null, expiresAt: null });
  const next = newToken();
  writeFileSync(join(folder, name), next);
  const replaced = apply(text);
  expect(replaced.lines.filter((line) => line.includes(name))).toEqual([
    `+ key ${name}: scope ci, for all repositories of ${owner}, never expires`,
    expect.stringMatching(new RegExp(`^- key ${name} \\([0-9a-f-]{36}\\): the file gives another token$`)),
  ]);
  const isOpen = async (one: string) => (await stores.keys.authenticate(one)) !== undefined;
  expect([await isOpen(token), await isOpen(next), await isOpen(byHand.token)]).toEqual([false, true, true]);

  expect(apply('keys:').lines.filter((line) => line.includes(name))).toEqual([
    expect.stringContaining('not in the file, stays'),
  ]);
  expect((await stores.keys.list()).find((key) => key.name === name && key.revokedAt === null)).toBeDefined();
  expect(apply('keys:', '--prune', '--dry-run').lines.filter((line) => line.includes(name))).toEqual([
    expect.stringMatching(/^- key .*: not in the file$/),
  ]);
  expect(await stores.keys.list()).toContainEqual(expect.objectContaining({ name, revokedAt: null }));
});

test('a revoked key stays revoked, and the rights of a token never change: nothing is changed then', async () => {
  const { owner, name, path } = unique();
  const text = (scope: string) => `keys:
  ${name}: { scope: ${scope}, owner: ${owner}, token_file: ${name} }
repositories:
  ${path}:`;
  expect(apply(text('view').replace(/repositories[\s\S]*/, '')).code).toBe(0);
  const other = apply(text('admin'));
  expect([other.code, other.lines]).toEqual([
    1,
    [expect.stringContaining(`The key ${name}: its token allows something else (scope view`), 'Nothing was changed.'],
  ]);
  const key = (await stores.keys.list()).find((one) => one.name === name);
  await stores.keys.revoke(key?.id ?? '');
  const revoked = apply(text('view'));
  expect([revoked.code, revoked.lines]).toEqual([
    1,
    [expect.stringContaining(`The key ${name}: its token was revoked`), 'Nothing was changed.'],
  ]);
  expect(await stores.repositories.find(owner, name)).toBeUndefined();
});

test('a faulty file changes nothing, and the command says so', () => {
  const { code, lines } = apply('repositories:\n  a/b:\n  a/c: { auto: on }');
  expect([code, lines]).toEqual([1, [expect.stringContaining('config.yaml:3: repositories.a/c.auto is unknown')]]);
});

test.each([
  [
    'a misspelt field',
    'repositories:\n  acme/shop:\n    auto_quarantin: flaky',
    ':3: repositories.acme/shop.auto_quarantin is unknown',
  ],
  [
    'a wrong value',
    'repositories:\n  acme/shop:\n    quarantine_limit: 0',
    ':3: repositories.acme/shop.quarantine_limit must be',
  ],
  [
    'a field in a rule',
    'repositories:\n  a/b:\n    test_owners:\n    - { fil: x }',
    ':4: repositories.a/b.test_owners[0].fil is unknown',
  ],
  ['a path that is none', 'repositories:\n  shop:', ':2: repositories.shop is no path of a repository'],
  ['a path in two cases', 'repositories:\n  a/b:\n  A/b:', ':3: repositories.A/b is there twice'],
  ['a name twice', 'keys: {}\nkeys: {}', ':2: is no YAML: Map keys must be unique'],
  [
    'a token in plain text',
    'keys:\n  a: { scope: ci, owner: a, token: cii_x }',
    ':2: keys.a.token must not be in the file',
  ],
  [
    'two places of a token',
    'keys:\n  a: { scope: ci, owner: a, token_env: A, token_file: a }',
    ':2: keys.a needs one of token_file',
  ],
  ['no owner', 'keys:\n  a: { scope: ci, token_env: A }', ':2: keys.a needs either owner, or every_owner: true'],
  [
    'a bound key that may quarantine',
    'keys:\n  a: { scope: ci, owner: a, token_env: A, branches: [b] }',
    ':2: keys.a.scope must be upload',
  ],
  ['settings of the environment', 'oidc: {}', ':1: oidc belongs into the environment: set OIDC_ISSUER'],
  ['no map', '- a', ':1: the file'],
])('refuses %s, and names the line', (_, text, said) => {
  const file = join(folder, 'refused.yaml');
  writeFileSync(file, text);
  expect(() => readApplyFile(file)).toThrow(`refused.yaml${said}`);
});

test('a token comes from a file or the environment, is long enough, and stands in no message', () => {
  const { name, token } = unique();
  const hash = new Bun.CryptoHasher('sha256').update(token).digest('hex');
  expect(tokenHashIn('a', { file: name }, folder, {})).toBe(hash);
  expect(tokenHashIn('a', { variable: 'A' }, folder, { A: token })).toBe(hash);
  expect(() => tokenHashIn('a', { variable: 'A' }, folder, {})).toThrow('The variable A is not set');
  for (const bad of ['cii_short', `${token} `.replace('cii_', ''), 'hunter2'])
    expect(() => tokenHashIn('a', { variable: 'A' }, folder, { A: bad })).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining(bad.slice(4)) }),
    );
});

test('whatever two files say and whatever is done by hand between: after a file is applied, nothing differs from it', async () => {
  const { owner } = unique();
  const settings: fc.Arbitrary<SettingsChange> = fc.record(
    {
      default_branch: fc.constantFrom('main', 'trunk'),
      flaky_detection_enabled: fc.boolean(),
      auto_quarantine: fc.constantFrom(...AUTO_QUARANTINE_MODES),
      quarantine_limit: fc.option(fc.integer({ min: 1, max: 9 })),
      quarantine_warning_days: fc.integer({ min: 0, max: 3 }),
      rerun_percent: fc.option(fc.integer({ min: 1, max: 9 })),
      ci_minute_price: fc.option(fc.double({ min: 0, max: 100_000, noNaN: true })),
      event_retention_days: fc.option(fc.integer({ min: 1, max: 9 })),
      host_page: fc.option(fc.constantFrom({ url: 'https://a.example', kind: 'gitlab' as const })),
      test_owners: fc.array(
        fc.record({ owners: fc.array(fc.constantFrom('@a', '@b'), { maxLength: 2 }), test_name: fc.constant('x') }),
        { maxLength: 2 },
      ),
    },
    { requiredKeys: [] },
  );
  const repositories = fc
    .dictionary(fc.constantFrom('one', 'two', 'three'), settings)
    .map((named): DeclaredRepository[] =>
      Object.entries(named).map(([name, of]) => ({ path: { owner, name }, host: undefined, settings: of })),
    );
  // Each token has one key for good, so its rights follow from it.
  const keys = fc.uniqueArray(fc.integer({ min: 0, max: 5 }), { maxLength: 4 }).map((numbers): DeclaredKey[] =>
    numbers.map((number) => ({
      name: `${owner} ${number % 2}`,
      tokenHash: new Bun.CryptoHasher('sha256').update(`${owner} ${number}`).digest('hex'),
      rights: {
        scope: KEY_SCOPES[number % 4] ?? 'view',
        ...{ owner, repositories: number === 1 ? ['shop'] : null, pullRequestsOnly: false },
        branches: number === 5 ? ['main', 'release/*'] : null,
        expiresAt: null,
      },
    })),
  );
  const planned = async (declared: { keys: DeclaredKey[]; repositories: DeclaredRepository[] }, isAll: boolean) => {
    const { keys: all, repositories: listed } = await existingIn(stores);
    // Other tests use the same stores.
    const existing = { keys: all.filter(({ name }) => name.startsWith(owner)), repositories: listed };
    return planOf(declared, existing, { now: 0, defaults: isAll ? DEFAULT_SETTINGS : undefined });
  };
  await fc.assert(
    fc.asyncProperty(
      ...[keys, repositories, settings, fc.boolean()],
      inBudget(async (declaredKeys, declared, byHand, isAll) => {
        const one = stores.repositories.record({ host: 'github.com', owner, name: 'one' });
        const columns = columnsOf(byHand);
        if (Object.keys(columns).length > 0) await stores.repositories.set(await one, columns, 'by hand');
        const file = { keys: declaredKeys, repositories: declared };
        const { changes, refusals } = await planned(file, isAll);
        // The token of a key that is gone: the file needs another.
        if (refusals.length > 0) {
          expect(refusals).toEqual(refusals.map(() => expect.stringContaining('stays revoked')));
          return;
        }
        for (const change of changes) await makeChange(stores, change);
        const left = await planned(file, isAll);
        expect(left.changes).toEqual([]);
        expect(left.refusals).toEqual([]);
      }),
    ),
  );
});
