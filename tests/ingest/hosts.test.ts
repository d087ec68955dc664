/** Deliveries of several hosts all the way into the stores: two repositories of the same name on two hosts are two. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { readConfig } from '../../src/config.ts';
import { repositoryIdOf } from '../../src/domain/identity.ts';
import { mountWebhooks } from '../../src/ingest/webhooks/routes.ts';
import { findPullRequest } from '../../src/postgres/pull-requests.ts';
import { prEvents } from '../../src/queue/pr-events.ts';
import { cloud, gitea, gitlab, HEADERS, mergeRequest, SECRET } from '../support/deliveries.ts';
import { followPages, logOf } from '../support/events.ts';
import type { Kind } from '../support/host-apis.ts';
import { openTestApp, type TestApp } from '../support/http.ts';
import { IngestDriver } from '../support/ingest.ts';
import { openTestStores, type TestStores, uniqueRepository } from '../support/stores.ts';
import { delivery, githubSite, payloadOf, WEBHOOK_SECRET } from '../support/webhooks.ts';

let stores: TestStores;
let app: TestApp;
let driver: IngestDriver;

beforeAll(async () => {
  stores = await openTestStores();
  driver = new IngestDriver(stores);
  const { hosts } = readConfig({
    HOSTS: 'github; gitlab; tea=gitea:https://git.acme.example; cloud=bitbucket-cloud:https://bitbucket.org',
    HOST_WEBHOOK_SECRETS: `gitlab=${SECRET},tea=${SECRET},cloud=${SECRET}`,
  });
  app = await openTestApp({
    features: [
      (elysia, http) =>
        mountWebhooks(elysia, http, {
          log: stores.log,
          hosts: [githubSite([WEBHOOK_SECRET]), ...hosts.filter(({ name }) => name !== 'github')],
          enqueueEvents: async (jobId, job) => void (await stores.producers.of(prEvents).add(job, jobId)),
        }),
    ],
  });
});
afterAll(() => driver.stop());

const post = async (name: string, body: string, headers: Record<string, string>): Promise<void> => {
  const json = { 'content-type': 'application/json' };
  const address = `/webhooks/${name}`;
  const response = await app.request(address, { method: 'POST', token: null, body, headers: { ...json, ...headers } });
  expect([response.status, await response.text()]).toEqual([202, expect.any(String)]);
};

const send = async (name: string, kind: Kind, event: string, payload: unknown): Promise<void> => {
  const body = JSON.stringify(payload);
  await post(name, body, HEADERS[kind](event, body));
  await driver.settle();
};

const typesOf = async (owner: string, name: string): Promise<string[]> => {
  stores.clock.at += 1;
  const events = (await followPages(app, logOf({ owner, name }, '?per_page=100'), 'next')).flat();
  return events.map(({ type }) => type);
};

test('the same owner and name on three hosts are three repositories, each with its events, page and default branch', async () => {
  const { owner, name } = uniqueRepository();
  const path = `${owner}/${name}`;
  const github = delivery(
    'pull_request',
    payloadOf('pull_request', 'closed', {
      repository: { name, owner: { login: owner }, html_url: `https://github.com/${path}`, default_branch: 'main' },
    }),
    path,
  );
  await post('github', github.body, github.headers());
  await driver.settle();
  const project = { ...gitlab.project, path_with_namespace: path, web_url: `https://gitlab.com/${path}` };
  await send('gitlab', 'gitlab', 'Merge Request Hook', mergeRequest('approved', {}, { project }));
  const html_url = `https://git.acme.example/${path}`;
  const repository = { ...gitea.repository, name, owner: { id: 1, login: owner }, html_url };
  await send('tea', 'gitea', 'pull_request', gitea.pull('synchronized', { repository }));

  const found = await Promise.all(
    [owner, `gitlab--${owner}`, `tea--${owner}`].map((address) => stores.repositories.find(address, name)),
  );
  expect(new Set(found.map((one) => one?.id)).size).toBe(3);
  expect(found.map((one) => [one?.hostKind, one?.hostUrl, one?.defaultBranch])).toEqual([
    ['github', `https://github.com/${path}`, 'main'],
    ['gitlab', `https://gitlab.com/${path}`, 'trunk'],
    ['gitea', html_url, 'trunk'],
  ]);
  expect(await typesOf(owner, name)).toEqual(['action.close']);
  expect(await typesOf(`gitlab--${owner}`, name)).toEqual(['action.review']);
  expect(await typesOf(`tea--${owner}`, name)).toEqual(['action.update']);
  // What exists keeps its ids: that of the default host is made as without further hosts.
  expect(found[0]?.id).toBe(repositoryIdOf('github.com', owner, name));
  expect(found[1]?.id).toBe(repositoryIdOf('github.com', `gitlab--${owner}`, name));
});

test('jobs that name a path with two hosts record one repository, also at the same time', async () => {
  const { owner, name } = uniqueRepository();
  const recorded = await Promise.all(
    ['github.com', 'ghe.example.com', 'github.com'].map((host) => stores.repositories.record({ host, owner, name })),
  );
  expect(new Set(recorded.map(({ id }) => id)).size).toBe(1);
});

test('a repository that moves on its host keeps its id, also from one owner to another', async () => {
  const { owner, name } = uniqueRepository();
  const repository = (full_name: string) => ({ ...cloud.repository, full_name });
  const of = (full_name: string) => ({ actor: cloud.emma, repository: repository(full_name) });
  await send('cloud', 'bitbucket-cloud', 'pullrequest:approved', { ...cloud.pull(), ...of(`${owner}/${name}`) });
  const before = await stores.repositories.find(`cloud--${owner}`, name);
  const changes = { full_name: { old: `${owner}/${name}`, new: `${owner}/${name}-2` } };
  await send('cloud', 'bitbucket-cloud', 'repo:updated', { ...of(`${owner}/${name}-2`), changes });
  const previousworkspace = { slug: owner };
  await send('cloud', 'bitbucket-cloud', 'repo:transfer', { ...of(`${owner}x/${name}-2`), previousworkspace });
  const after = await stores.repositories.find(`cloud--${owner}x`, `${name}-2`);
  expect(before?.id).toBeDefined();
  expect(after?.id).toBe(before?.id as string);
  expect(await typesOf(`cloud--${owner}x`, `${name}-2`)).toContain('action.review');
});

test('the author of a merge request stays known when others act on it', async () => {
  const { owner, name } = uniqueRepository();
  const project = { ...gitlab.project, path_with_namespace: `${owner}/${name}` };
  const merge = (user: object, updated_at: string) => mergeRequest('update', { updated_at }, { user, project });
  await send('gitlab', 'gitlab', 'Merge Request Hook', merge(gitlab.rita, '2026-11-21T09:30:00Z'));
  await send('gitlab', 'gitlab', 'Merge Request Hook', merge(gitlab.wim, '2026-11-21 09:31:00 UTC'));
  const { id = '' } = (await stores.repositories.find(`gitlab--${owner}`, name)) ?? {};
  expect(await findPullRequest(stores.postgres.db, id, 3)).toMatchObject({
    authorId: 7,
    authorLogin: 'rita',
    updatedAt: new Date('2026-11-21T09:31:00Z'),
  });
});

test('the branch of a merged request that its host deletes is an event of that request', async () => {
  const { owner, name } = uniqueRepository();
  const project = { ...gitlab.project, path_with_namespace: `${owner}/${name}` };
  await send('gitlab', 'gitlab', 'Merge Request Hook', mergeRequest('merge', { state: 'merged' }, { project }));
  await send('gitlab', 'gitlab', 'Push Hook', { ...gitlab.push('refs/heads/topic', '0'.repeat(40)), project });
  expect((await typesOf(`gitlab--${owner}`, name)).sort()).toEqual(['action.delete_head_branch', 'action.merge']);
});
