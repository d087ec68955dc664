/** What the service may write at hosts: off unless it is configured as a whole, and no secret is shown. */
import { expect, test } from 'bun:test';
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

test('nothing is written unless repositories are named', () => {
  expect(readConfig({}).commentsConfig).toBeUndefined();
  expect(readConfig({ GITHUB_COMMENT_TOKEN: TOKEN, PUBLIC_URL }).commentsConfig).toBeUndefined();
});

test.each([
  [{ PULL_REQUEST_COMMENTS: '*' }, 'needs PUBLIC_URL'],
  [{ COMMIT_CHECKS: '*', PUBLIC_URL }, 'needs a credential of the host'],
  [{ COMMIT_CHECKS: 'a b', PUBLIC_URL, GITHUB_COMMENT_TOKEN: TOKEN }, 'must be repositories separated by commas'],
  [{ COMMIT_CHECKS: '*', PUBLIC_URL, GITHUB_APP_ID: '7' }, 'GITHUB_APP_ID needs GITHUB_APP_KEY'],
  [{ COMMIT_CHECKS: '*', PUBLIC_URL, GITHUB_APP_ID: '7', GITHUB_APP_KEY: TOKEN }, 'must be the private key of the App'],
  [
    { COMMIT_CHECKS: '*', PUBLIC_URL, GITHUB_APP_ID: '7', GITHUB_APP_KEY: pem, GITHUB_COMMENT_TOKEN: TOKEN },
    'not both',
  ],
  [{ COMMIT_CHECKS: '*', PUBLIC_URL, GITLAB_API_URL: 'https://git.acme.example/api/v4' }, 'needs GITLAB_COMMENT_TOKEN'],
  [{ COMMIT_CHECKS: '*', PUBLIC_URL, GITHUB_COMMENT_TOKEN_FILE: '/nowhere' }, 'cannot be read'],
])('what is configured in part is refused: %#', (environment: Record<string, string>, sentence) => {
  const error = (() => {
    try {
      readConfig(environment);
    } catch (caught) {
      return String(caught);
    }
  })();
  expect(error).toContain(sentence);
  expect(error).not.toContain(TOKEN);
  expect(error).not.toContain('PRIVATE KEY');
});

test('secrets come from variables or files, and are kept from the log', () => {
  const folder = makeFolder('comments-config');
  try {
    const file = join(folder, 'app.pem');
    writeFileSync(file, `${pem}\n`);
    const config = readConfig({
      ...{ PUBLIC_URL: `${PUBLIC_URL}/`, PULL_REQUEST_COMMENTS: 'Acme, globex/Shop', GITHUB_APP_ID: '7' },
      ...{ GITHUB_APP_KEY_FILE: file, GITLAB_COMMENT_TOKEN: TOKEN },
    });
    expect(config.commentsConfig).toEqual({
      comments: ['acme', 'globex/shop'],
      checks: [],
      github: {
        apiUrl: 'https://api.github.com',
        graphqlUrl: 'https://api.github.com/graphql',
        webUrl: 'https://github.com',
        credential: { appId: '7', privateKey: pem.trim() },
      },
      gitlab: { apiUrl: 'https://gitlab.com/api/v4', webUrl: 'https://gitlab.com', token: TOKEN },
      publicUrl: PUBLIC_URL,
    });
    expect(secretsOf(config)).toEqual([pem.trim(), TOKEN]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test.each([
  ['https://git.acme.example/api/v3', 'https://git.acme.example/api/graphql', 'https://git.acme.example'],
  ['https://api.acme.ghe.com', 'https://api.acme.ghe.com/graphql', 'https://acme.ghe.com'],
])('an enterprise host at %s has its pages and GraphQL elsewhere', (apiUrl, graphqlUrl, webUrl) => {
  const { commentsConfig } = readConfig({
    ...{ PUBLIC_URL, COMMIT_CHECKS: '*', GITHUB_API_URL: apiUrl, GITHUB_COMMENT_TOKEN: TOKEN, GITHUB_AUTH: 'off' },
  });
  expect(commentsConfig?.github).toMatchObject({ apiUrl, graphqlUrl, webUrl });
});

test('a list names all, an owner or a repository, in any case', () => {
  expect(isListed(['*'], 'acme', 'shop')).toBe(true);
  expect(isListed(['acme'], 'Acme', 'shop')).toBe(true);
  expect(isListed(['acme/shop'], 'acme', 'Shop')).toBe(true);
  expect(isListed(['acme/shop'], 'acme', 'docs')).toBe(false);
  expect(isListed([], 'acme', 'shop')).toBe(false);
});
