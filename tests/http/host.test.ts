/** Where a repository is hosted, as uploads, webhooks and the setting say it, and what the API answers. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { RepositoryHost } from '../../src/insights/host.ts';
import { junitReport, Uploads } from '../support/gateway.ts';

let uploads: Uploads;
beforeAll(async () => {
  uploads = await Uploads.open();
});
afterAll(() => uploads.close());

const XML = junitReport([{ name: 'sums' }]);
const hostOf = (base: string): Promise<RepositoryHost> => uploads.app.get<RepositoryHost>(`${base}/host`);
const jobOf = ({ owner, name }: { owner: string; name: string }, host = 'https://ghe.example.com'): string =>
  `${host}/${owner}/${name}/actions/runs/1`;
const set = (base: string, body: unknown) =>
  uploads.app.request(`${base}/settings`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
const NOWHERE = { kind: null, url: null, source: null, default_branch: null, links: null };

test('a repository of which no one has said where it is has no links', async () => {
  const repository = uploads.repository();
  expect(await hostOf(repository.base)).toEqual(NOWHERE);
  await uploads.store(repository.base, XML, { run_id: '1', branch: 'main', job_url: 'https://ci.example.com/jobs/1' });
  expect(await hostOf(repository.base)).toEqual({ ...NOWHERE, default_branch: 'main' });
});

test('the first job of a branch says it, and none after it', async () => {
  const repository = uploads.repository();
  const url = `https://ghe.example.com/${repository.owner}/${repository.name}`;
  await uploads.store(repository.base, XML, { run_id: '1', branch: 'main', job_url: jobOf(repository) });
  const known: RepositoryHost = {
    kind: 'github',
    url,
    source: 'upload',
    default_branch: 'main',
    links: {
      commit: `${url}/commit/{commit}`,
      compare: `${url}/compare/{from}...{to}`,
      file: `${url}/blob/{commit}/{path}`,
      line: `${url}/blob/{commit}/{path}#L{line}`,
      pull_request: `${url}/pull/{number}`,
    },
  };
  expect(await hostOf(repository.base)).toEqual(known);
  await uploads.store(repository.base, XML, {
    run_id: '2',
    branch: 'main',
    job_url: jobOf(repository, 'https://x.example'),
  });
  expect(await hostOf(repository.base)).toEqual(known);
});

test('a job of a pull request does not say it', async () => {
  const repository = uploads.repository();
  const pull = { run_id: '1', branch: 'feature', base_ref: 'main', pull_request: '7' };
  await uploads.store(repository.base, XML, { ...pull, job_url: jobOf(repository, 'https://evil.example') });
  expect((await hostOf(repository.base)).url).toBeNull();
});

test('the setting overrules uploads, and null takes it back', async () => {
  const repository = uploads.repository();
  await uploads.store(repository.base, XML, { run_id: '1', branch: 'main', job_url: jobOf(repository) });
  const host_page = { kind: 'gitea', url: 'https://git.example.com/shop/' };
  expect((await set(repository.base, { host_page })).status).toBe(200);
  expect(await hostOf(repository.base)).toMatchObject({
    ...host_page,
    source: 'setting',
    links: { line: 'https://git.example.com/shop/src/commit/{commit}/{path}#L{line}' },
  });
  expect(await uploads.app.get(`${repository.base}/settings`)).toMatchObject({ host_page });
  expect((await set(repository.base, { host_page: null })).status).toBe(200);
  await uploads.store(repository.base, XML, { run_id: '2', branch: 'main', job_url: jobOf(repository) });
  expect(await hostOf(repository.base)).toMatchObject({ kind: 'github', source: 'upload' });
});

test.each([
  { kind: 'github', url: 'ftp://example.com' },
  { kind: 'github', url: 'https://ann:secret@example.com/acme/shop' },
  { kind: 'github', url: 'https://example.com/{commit}' },
  { kind: 'svn', url: 'https://example.com/acme/shop' },
])('the setting refuses %p, and says what is wrong', async (host_page) => {
  const response = await set(uploads.repository().base, { host_page });
  expect(response.status).toBe(422);
  expect(await response.text()).toMatch(/must be (an address with http or https|one of github, gitlab, gitea)/);
});
