/** What the service may write at hosts: off unless it is configured as a whole, and no secret is shown. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { generateKeyPairSync } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readConfig, secretsOf } from '../../src/config.ts';
import { isListed } from '../../src/domain/repository-list.ts';
import { makeFolder } from '../support/folder.ts';

const PUBLIC_URL = 'https://ci.acme.example';
const TOKEN = 'ghp_0123456789abcdef';
const pem = generateKeyPairSync('rsa', { modulusLength: 2048 })
  .privateKey.export({ type: 'pkcs1', format: 'pem' })
  .toString();

const HOST_TOKENS = `github=${TOKEN}`;
let folder: string;
let key: string;
beforeAll(() => {
  folder = makeFolder('comments-config');
  key = join(folder, 'app.pem');
  writeFileSync(key, `${pem}\n`);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('nothing is written unless repositories are named', () => {
  expect(readConfig({}).commentsConfig).toBeUndefined();
  expect(readConfig({ HOST_TOKENS, PUBLIC_URL }).commentsConfig).toBeUndefined();
});

test.each([
  [{ PULL_REQUEST_COMMENTS: '*' }, 'needs PUBLIC_URL'],
  [{ COMMIT_CHECKS: '*', PUBLIC_URL }, 'needs a credential of a host'],
  [{ COMMIT_CHECKS: 'a b', PUBLIC_URL, HOST_TOKENS }, 'must be repositories separated by commas'],
  [{ HOST_APPS: 'github=7' }, 'HOST_APPS must look like'],
  [{ HOST_APPS: 'github=7:/nowhere' }, 'cannot be read'],
  [{ HOST_TOKENS: TOKEN }, 'HOST_TOKENS must look like'],
  [{ HOST_TOKENS: `${HOST_TOKENS},${HOST_TOKENS}` }, 'a host has one token, or one App'],
  [{ HOST_TOKENS, HOST_TOKENS_FILE: '/nowhere' }, 'not both'],
  [{ HOST_TOKENS_FILE: '/nowhere' }, 'cannot be read'],
])('what is configured in part is refused: %#', (environment: Record<string, string>, sentence) => {
  expect(refusalOf(environment)).toContain(sentence);
});

test('an App needs a key, on a host that has Apps, and is instead of a token', () => {
  const wrong = join(folder, 'wrong.pem');
  writeFileSync(wrong, TOKEN);
  expect(refusalOf({ HOST_APPS: `github=7:${wrong}` })).toContain('not the private key of an App');
  expect(refusalOf({ HOST_APPS: `github=7:${key}`, HOST_TOKENS })).toContain('a host has one token, or one App');
  expect(refusalOf({ HOSTS: 'gitlab', HOST_APPS: `gitlab=7:${key}` })).toContain('only GitHub has Apps');
  const lines = join(folder, 'tokens');
  writeFileSync(lines, `gitlab ${TOKEN}\n`);
  expect(refusalOf({ HOSTS: 'gitlab', HOST_TOKENS_FILE: lines })).toContain('HOST_TOKENS must look like host=token');
});

function refusalOf(environment: Record<string, string>): string {
  try {
    readConfig(environment);
  } catch (error) {
    expect(String(error)).not.toContain(TOKEN);
    expect(String(error)).not.toContain('PRIVATE KEY');
    return String(error);
  }
  throw new Error('it is not refused');
}

test('secrets come from variables or files, and are kept from the log', () => {
  const file = join(folder, 'lines');
  writeFileSync(file, `gitlab=${TOKEN}\nown=${TOKEN}2\n`);
  const config = readConfig({
    ...{ PUBLIC_URL: `${PUBLIC_URL}/`, PULL_REQUEST_COMMENTS: 'Acme, globex/Shop' },
    HOSTS: 'github; gitlab; own=gitea:https://git.acme.example',
    HOST_APPS: `github=7:${key}`,
    HOST_TOKENS_FILE: file,
  });
  expect(config.commentsConfig).toEqual({
    comments: ['acme', 'globex/shop'],
    checks: [],
    hosts: config.hosts,
    publicUrl: PUBLIC_URL,
  });
  expect(config.hosts.map(({ name, credential }) => [name, credential])).toEqual([
    ['github', { appId: '7', privateKey: pem.trim() }],
    ['gitlab', { token: TOKEN }],
    ['own', { token: `${TOKEN}2` }],
  ]);
  expect(secretsOf(config)).toEqual([pem.trim(), TOKEN, `${TOKEN}2`]);
});

test('a list names all, an owner or a repository, in any case', () => {
  expect(isListed(['*'], 'acme', 'shop')).toBe(true);
  expect(isListed(['acme'], 'Acme', 'shop')).toBe(true);
  expect(isListed(['acme/shop'], 'acme', 'Shop')).toBe(true);
  expect(isListed(['acme/shop'], 'acme', 'docs')).toBe(false);
  expect(isListed([], 'acme', 'shop')).toBe(false);
});
