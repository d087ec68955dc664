/** The files of a pull request and CODEOWNERS, from servers that answer as each host does. */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import type { HostKindName } from '../../src/domain/host-page.ts';
import { CHANGED_FILES_MAX, CODEOWNERS_BYTES_MAX } from '../../src/domain/limits.ts';
import { PullHost } from '../support/pull-host.ts';
import { REMOTES, remoteAt } from '../support/remotes.ts';

const COMMIT = '1111111111111111111111111111111111111111';
/** Where each looks for the file besides at the root. */
const FOLDERS: Readonly<Record<HostKindName, string>> = {
  github: '.github',
  gitlab: '.gitlab',
  gitea: '.gitea',
  'bitbucket-cloud': '.bitbucket',
  'bitbucket-data-center': '.bitbucket',
};
let host: PullHost;
beforeEach(() => {
  host = new PullHost();
  host.head = COMMIT;
});
afterEach(() => host.stop());

describe.each(REMOTES)('on %s', (name, kind) => {
  const changed = () => remoteAt(kind, host.origin).changedFiles({ number: 7, commit: COMMIT });
  const codeowners = () => remoteAt(kind, host.origin).codeowners();

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

  test('CODEOWNERS is looked for where the host looks, and a file that is too large is left out', async () => {
    expect(await codeowners()).toBeUndefined();
    host.codeowners = { path: `${FOLDERS[kind]}/CODEOWNERS`, content: '* @acme é\n' };
    expect(await codeowners()).toEqual(host.codeowners);
    host.codeowners = { path: 'CODEOWNERS', content: 'a'.repeat(CODEOWNERS_BYTES_MAX + 1) };
    expect(await codeowners()).toBeUndefined();
  });
});

test.each(['github', 'gitlab', 'gitea'] as const)('on %s, a folder of that name is no CODEOWNERS', async (kind) => {
  host.trouble = () => Response.json([{ type: 'dir' }]);
  expect(await remoteAt(kind, host.origin).codeowners()).toBeUndefined();
});

test('a token follows redirects within its host only', async () => {
  let isAsked = false;
  const elsewhere = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: () => {
      isAsked = true;
      return Response.json([]);
    },
  });
  try {
    host.trouble = (_, { pathname }) =>
      pathname.endsWith('/files') ? Response.redirect(`${elsewhere.url.origin}/files`, 301) : undefined;
    await expect(remoteAt('github', host.origin).changedFiles({ number: 7, commit: COMMIT })).rejects.toThrow(
      'elsewhere',
    );
    host.trouble = () => Response.json({ values: [], next: `${elsewhere.url.origin}/next` });
    await expect(remoteAt('bitbucket-cloud', host.origin).changedFiles({ number: 7, commit: COMMIT })).rejects.toThrow(
      'elsewhere',
    );
    expect(isAsked).toBeFalse();
  } finally {
    await elsewhere.stop(true);
  }
});
