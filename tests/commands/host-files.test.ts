/** The files of a pull request and CODEOWNERS, from servers that answer as GitHub and GitLab do. */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { CHANGED_FILES_MAX, CODEOWNERS_BYTES_MAX } from '../../src/domain/limits.ts';
import { changedOnGithub, changedOnGitlab } from '../../src/host-api/changed-files.ts';
import { codeownersOnGitlab } from '../../src/host-api/codeowners.ts';
import { HOST_TOKEN, PullHost } from '../support/pull-host.ts';

const COMMIT = '1111111111111111111111111111111111111111';
let host: PullHost;
beforeEach(() => {
  host = new PullHost();
  host.head = COMMIT;
});
afterEach(() => host.stop());

const pull = { number: 7, commit: COMMIT };
const github = () =>
  changedOnGithub(
    {
      apiUrl: `${host.origin}/api/v3`,
      graphqlUrl: `${host.origin}/api/graphql`,
      token: HOST_TOKEN,
      repository: 'acme/shop',
    },
    pull,
  );
const gitlab = () =>
  changedOnGitlab({ apiUrl: `${host.origin}/api/v4`, token: HOST_TOKEN, project: 'acme/shop' }, pull);

describe.each([
  ['GitHub', github],
  ['GitLab', gitlab],
])('on %s', (name, changed) => {
  test('all pages are read, and a renamed file has both names', async () => {
    host.files = Array.from({ length: 250 }, (_, i) => ({ path: `src/${i}.ts` }));
    host.files.push({ path: 'src/new.ts', before: 'src/old.ts' });
    const files = await changed();
    expect(files).toHaveLength(252);
    expect(files?.slice(-2)).toEqual(['src/new.ts', 'src/old.ts']);
  });

  test('no more are taken than are stored', async () => {
    host.files = Array.from({ length: CHANGED_FILES_MAX + 500 }, (_, i) => ({ path: `${i}` }));
    expect(await changed()).toHaveLength(CHANGED_FILES_MAX);
  });

  test('nothing is said of a commit that is not the newest', async () => {
    host.files = [{ path: 'src/cart.ts' }];
    host.head = '2'.repeat(40);
    expect(await changed()).toBeUndefined();
  });

  test('an outage is waited for, and a refusal says what is missing', async () => {
    host.files = [{ path: 'src/cart.ts' }];
    let times = 0;
    host.trouble = () => (times++ === 0 ? new Response('', { status: 503 }) : undefined);
    expect(await changed()).toEqual(['src/cart.ts']);
    host.trouble = () => Response.json({ message: 'Not Found' }, { status: 404 });
    const error = await changed().catch(String);
    expect(error).toStartWith(`HostError: ${name} refused (404: Not Found). The token may not read`);
    host.trouble = () => Response.json({ files: 1 });
    await expect(changed()).rejects.toThrow('something else than its API does');
  });
});

test('on GitLab, CODEOWNERS is looked for where GitLab looks, and a file that is too large is left out', async () => {
  const place = { apiUrl: `${host.origin}/api/v4`, token: HOST_TOKEN, project: 'acme/web/shop' };
  expect(await codeownersOnGitlab(place)).toBeUndefined();
  host.codeowners = { path: '.gitlab/CODEOWNERS', content: '* @acme\n' };
  expect(await codeownersOnGitlab(place)).toEqual(host.codeowners);
  host.codeowners = { path: 'CODEOWNERS', content: 'a'.repeat(CODEOWNERS_BYTES_MAX + 1) };
  expect(await codeownersOnGitlab(place)).toBeUndefined();
  host.trouble = () => Response.json([{ type: 'dir' }]);
  expect(await codeownersOnGitlab(place)).toBeUndefined();
});
