/** The trail has what operators do with commands on the server, and the commands show and end what there is. */
import { beforeAll, expect, test } from 'bun:test';
import { z } from 'zod';
import { runCommand } from '../support/service-process.ts';
import { openTestStores, type TestStores, uniqueRepository } from '../support/stores.ts';

const { owner: shared, name } = uniqueRepository();
/** Of this file only: the trail of the shared one has what other tests do. */
const owner = `${shared}-${name}`;
const path = `${owner}/${name}`;
let stores: TestStores;
beforeAll(async () => {
  stores = await openTestStores();
});

const run = (...args: string[]): string => {
  const { code, out } = runCommand(stores.config.dataDir, ...args);
  expect([args, code]).toEqual([args, 0]);
  return out;
};
const entriesSchema = z.array(
  z.looseObject({
    action: z.string(),
    actor: z.looseObject({ kind: z.string(), name: z.string(), subject: z.string().nullable() }),
  }),
);

test('every command that changes something leaves an entry with the command and the user who ran it', () => {
  const key = z
    .object({ id: z.string(), made_by: z.string() })
    .parse(JSON.parse(run('keys', 'create', '--owner', owner, '--scope', 'ci', '--json')));
  expect(key.made_by).toBe('ci-insights keys create');
  run('keys', 'revoke', key.id);
  run('repos', 'set', path, '--create', '--quarantine-limit', '3');
  run('repos', 'rename', path, `${path}-renamed`);
  const entries = entriesSchema.parse(JSON.parse(run('audit', '--owner', owner, '--json')));
  expect(entries.map(({ action, actor: { name: command } }) => [action, command])).toEqual([
    ['repository.rename', 'ci-insights repos rename'],
    ['repository.settings', 'ci-insights repos set'],
    ['repository.create', 'ci-insights repos set'],
    ['key.revoke', 'ci-insights keys revoke'],
    ['key.create', 'ci-insights keys create'],
  ]);
  for (const { actor } of entries) expect([actor.kind, actor.subject]).toEqual(['command', expect.any(String)]);
  const shown = run('audit', '--repo', `${path}-renamed`, '--action', 'repository.rename');
  expect(shown).toMatch(new RegExp(`ci-insights repos rename \\(\\S+\\) +repository\\.rename +${path}-renamed`));
});

test('all sessions end with one command, and each leaves an entry', async () => {
  const actor = `who is signed in to ${name}`;
  const begin = () =>
    stores.sessions.begin({ keyId: null, actor, scope: 'view', owner, repositories: null }, { lifetimeMs: 10 ** 12 });
  const begun = [await begin(), await begin()];
  expect(run('sessions', 'list')).toContain(actor);
  const [first, second] = begun.map(({ session }) => session.id);
  run('sessions', 'end', first ?? '');
  expect(run('sessions', 'end', '--all')).toMatch(/^\d+ sessions? ended\.\n$/);
  expect(run('sessions', 'list')).toBe('No one is signed in.\n');
  expect(runCommand(stores.config.dataDir, 'sessions', 'end', second ?? '').code).toBe(1);
  const ended = entriesSchema
    .parse(JSON.parse(run('audit', '--action', 'session.end', '--owner', owner, '--json')))
    .filter(({ actor: by }) => by.name === 'ci-insights sessions end');
  expect(ended).toMatchObject([
    { object: { id: second, name: actor }, after: { reason: 'all sessions were ended' } },
    { object: { id: first, name: actor }, after: { reason: 'revoked' } },
  ]);
});
