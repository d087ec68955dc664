/** Terms of a quarantine: an end, an owner, a ticket, and what it is narrowed to. */
import { beforeAll, describe, expect, test } from 'bun:test';
import { openTestApp, type TestApp } from '../support/http.ts';
import { uniqueRepository } from '../support/stores.ts';

const [GROUP, OTHER] = ['3f1a8b52-90c4-5d27-8f0e-6b1d2c3e4f50', '8c0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c11'];
const LATER = '2099-12-24T18:00:00.000Z';
const TERMS = {
  pipeline_name: 'CI',
  job_name: 'unit',
  axes: { browser: ['firefox', 'webkit'], os: ['windows'] },
  failure_ids: [GROUP, OTHER],
  expires_at: LATER,
  owner: 'team-checkout',
  ticket_url: 'https://tickets.acme.example/SHOP-1',
};
const NO_TERMS = {
  pipeline_name: null,
  job_name: null,
  axes: null,
  failure_ids: null,
  expires_at: null,
  owner: null,
  ticket_url: null,
};

let app: TestApp;
beforeAll(async () => {
  app = await openTestApp();
});

function freshRepository() {
  const { owner, name } = uniqueRepository();
  const base = `/v1/ci/${owner}/repositories/${name}/quarantines`;
  const send = (method: string, path: string, body: object) =>
    app.request(path, { method, body: JSON.stringify(body), headers: { 'content-type': 'application/json' } });
  const post = (body: object) => send('POST', base, { test_name: 'a', reason: 'r', ...body });
  const patch = (id: string, body: object) => send('PATCH', `${base}/${id}`, body);
  const create = async (body: object): Promise<string> => {
    const response = await post(body);
    if (response.status !== 201) throw new Error(`${response.status}: ${await response.text()}`);
    return ((await response.json()) as { id: string }).id;
  };
  const ids = async (query = ''): Promise<string[]> =>
    (await app.get<{ quarantined_tests: { id: string }[] }>(`${base}${query}`)).quarantined_tests.map(({ id }) => id);
  return { owner, name, base, post, patch, create, ids };
}

describe('terms', () => {
  test('come back as they were sent, with axes and failure groups in order', async () => {
    const { create, base } = freshRepository();
    const failure_ids = [OTHER.toUpperCase(), GROUP, OTHER];
    const axes = { os: ['windows', 'windows'], browser: ['webkit', 'firefox'] };
    const id = await create({ ...TERMS, axes, failure_ids, expires_at: '2099-12-24T19:00+01:00' });
    expect(await app.get(`${base}/${id}`)).toMatchObject(TERMS);
  });

  test('those that are absent or null are null', async () => {
    const { create, base } = freshRepository();
    for (const id of [await create({}), await create({ ...NO_TERMS, branch: 'main' })])
      expect(await app.get(`${base}/${id}`)).toMatchObject(NO_TERMS);
  });

  test.each([
    ['an end that has passed', { expires_at: '2020-01-01T00:00:00Z' }, 'expires_at'],
    ['an end without a zone', { expires_at: '2099-01-01T00:00:00' }, 'expires_at'],
    ['a link that is a script', { ticket_url: 'javascript:alert(1)' }, 'ticket_url'],
    ['a link to a file', { ticket_url: 'file:///etc/passwd' }, 'ticket_url'],
    ['a link with a space', { ticket_url: 'https://a b' }, 'ticket_url'],
    ['a link without a host', { ticket_url: 'https://' }, 'ticket_url'],
    ['a link that is too long', { ticket_url: `https://a.example/${'x'.repeat(2_048)}` }, 'ticket_url'],
    ['an empty owner', { owner: '' }, 'owner'],
    ['an owner that is too long', { owner: 'x'.repeat(256) }, 'owner'],
    ['an empty pipeline', { pipeline_name: '' }, 'pipeline_name'],
    ['a job that is too long', { job_name: 'x'.repeat(256) }, 'job_name'],
    ['no axis', { axes: {} }, 'axes'],
    ['an axis without values', { axes: { os: [] } }, 'axes'],
    ['17 axes', { axes: Object.fromEntries(Array.from({ length: 17 }, (_, i) => [`a${i}`, ['x']])) }, 'axes'],
    ['17 values of an axis', { axes: { os: Array.from({ length: 17 }, (_, i) => `v${i}`) } }, 'axes'],
    ['an axis whose value is empty', { axes: { os: [''] } }, 'axes'],
    ['an axis whose value is too long', { axes: { os: ['x'.repeat(256)] } }, 'axes'],
    ['an axis whose value is no list', { axes: { os: 'windows' } }, 'axes'],
    ['an axis with a colon in its name', { axes: { 'o:s': ['windows'] } }, 'axes'],
    ['no failure group', { failure_ids: [] }, 'failure_ids'],
    ['an axis that zod would drop', { axes: JSON.parse('{"os":["windows"],"__proto__":["x"]}') }, 'axes'],
    ['101 failure groups', { failure_ids: Array.from({ length: 101 }, () => crypto.randomUUID()) }, 'failure_ids'],
    ['a failure group that is not a UUID', { failure_ids: ['x'] }, 'failure_ids'],
  ])('%s is 422, on creation and on a change, and changes nothing', async (_, body, field) => {
    const { create, post, patch, base, ids } = freshRepository();
    const id = await create({ branch: 'main', ...TERMS });
    for (const response of [await post(body), await patch(id, body)]) {
      expect(response.status).toBe(422);
      const { errors } = (await response.json()) as { errors: { loc: string[] }[] };
      expect(errors[0]?.loc.slice(0, 2)).toEqual(['body', field]);
    }
    expect(await ids('?narrowed=include')).toEqual([id]);
    expect(await app.get(`${base}/${id}`)).toMatchObject(TERMS);
  });
});

describe('a change', () => {
  test('sets what it names, removes what is null, and leaves the rest', async () => {
    const { create, patch, base } = freshRepository();
    const id = await create(TERMS);
    const before = await app.get(`${base}/${id}`);
    const changed = await patch(id, { owner: 'ann', failure_ids: null });
    expect(changed.status).toBe(200);
    const record = { ...before, owner: 'ann', failure_ids: null };
    expect((await changed.json()) as object).toEqual(record);
    expect(await app.get(`${base}/${id}`)).toEqual(record);
    expect((await patch(id, {})).status).toBe(200);
    expect(await app.get(`${base}/${id}`)).toEqual(record);
  });

  test('of the reason and the branch is one of the scope, too', async () => {
    const { create, patch, ids } = freshRepository();
    const id = await create({ ...NO_TERMS, branch: 'main' });
    const changed = await patch(id, { reason: 'slow disks', branch: 'release/*' });
    expect(await changed.json()).toMatchObject({ id, reason: 'slow disks', branch: 'release/*' });
    expect(await ids('?branch=main')).toEqual([]);
    expect(await ids('?branch=release/1')).toEqual([id]);
    const other = await create({ ...NO_TERMS, branch: 'main' });
    expect((await patch(other, { branch: 'release/*' })).status).toBe(409);
    expect((await patch(other, { branch: null })).status).toBe(200);
  });

  test('a field that is misspelt or stays for good is 422', async () => {
    const { create, patch } = freshRepository();
    const id = await create(TERMS);
    for (const body of [{ expire_at: LATER }, { test_name: 'other' }]) expect((await patch(id, body)).status).toBe(422);
  });

  test('of a quarantine that is unknown, removed or of another repository is 404', async () => {
    const { create, patch, base } = freshRepository();
    const id = await create(TERMS);
    expect((await freshRepository().patch(id, { owner: 'ann' })).status).toBe(404);
    await app.request(`${base}/${id}`, { method: 'DELETE' });
    expect((await patch(id, { owner: 'ann' })).status).toBe(404);
    expect((await patch(crypto.randomUUID(), { owner: 'ann' })).status).toBe(404);
  });
});

describe('scopes', () => {
  const NARROWER = [
    {},
    { pipeline_name: 'CI' },
    { job_name: 'CI' },
    { pipeline_name: 'CI', job_name: 'unit' },
    { axes: { os: ['windows'] } },
    { axes: { os: ['windows', 'linux'] } },
    { axes: { os: ['windows'], python: ['3.13'] } },
    { axes: { os: ['windows'] }, job_name: 'CI' },
    { failure_ids: [GROUP] },
    { failure_ids: [GROUP, OTHER] },
    { failure_ids: [GROUP], job_name: 'CI' },
  ];

  test('a test may be quarantined once for each scope: the same one again is 409', async () => {
    const { post, ids } = freshRepository();
    for (const branch of [null, 'main'])
      for (const scope of NARROWER) expect((await post({ ...scope, branch })).status).toBe(201);
    for (const scope of NARROWER) expect((await post({ ...scope, owner: 'ann', expires_at: LATER })).status).toBe(409);
    expect(await ids('?narrowed=include')).toHaveLength(2 * NARROWER.length);
  });

  test('of concurrent requests for one scope one wins', async () => {
    const { post } = freshRepository();
    const statuses = await Promise.all(Array.from({ length: 8 }, async () => (await post(TERMS)).status));
    expect(statuses.sort()).toEqual([201, ...Array(7).fill(409)]);
  });

  test('a change to the scope of another quarantine of the test is 409 and changes nothing', async () => {
    const { create, patch, base } = freshRepository();
    await create({});
    const id = await create({ job_name: 'unit' });
    expect((await patch(id, { job_name: null })).status).toBe(409);
    expect(await app.get(`${base}/${id}`)).toMatchObject({ job_name: 'unit' });
    expect((await patch(id, { job_name: 'e2e' })).status).toBe(200);
    const [axes, turned] = [
      { os: ['a', 'b'], cpu: ['c'] },
      { cpu: ['c'], os: ['b', 'a'] },
    ];
    await create({ job_name: 'e2e', axes });
    expect((await patch(id, { axes: turned })).status).toBe(409);
    await create({ job_name: 'unit' });
  });

  test('the longest names in every place of a scope can be stored and compared', async () => {
    const { post } = freshRepository();
    const long = '😀'.repeat(255);
    const failure_ids = Array.from({ length: 100 }, () => crypto.randomUUID());
    const axes = { ['😀'.repeat(64)]: [long, 'x'.repeat(255)] };
    const place = { branch: long, pipeline_name: long, job_name: long, axes };
    const body = { test_name: '😀'.repeat(10_000), ...place, failure_ids };
    expect((await post(body)).status).toBe(201);
    expect((await post(body)).status).toBe(409);
  });
});

describe('the list', () => {
  test('shows a narrowed quarantine only to clients that settle what it is narrowed to', async () => {
    const { create, ids } = freshRepository();
    const every = await create({});
    const pipeline = await create({ pipeline_name: 'CI' });
    const job = await create({ pipeline_name: 'CI', job_name: 'unit' });
    const group = await create({ failure_ids: [GROUP], job_name: 'unit' });
    for (const query of ['', '?branch=main', '?branch=main&per_page=100', '?branch=main&job_name=unit'])
      expect([query, await ids(query)]).toEqual([query, [every]]);
    expect(await ids('?pipeline_name=CI')).toEqual([every, pipeline]);
    expect(await ids('?pipeline_name=CI&job_name=unit')).toEqual([every, pipeline, job]);
    expect(await ids('?pipeline_name=CI&job_name=e2e')).toEqual([every, pipeline]);
    expect(await ids('?pipeline_name=nightly&job_name=unit')).toEqual([every]);
    expect(await ids('?narrowed=include')).toEqual([every, pipeline, job, group]);
    expect(await ids('?narrowed=include&job_name=unit')).toEqual([every, pipeline, job, group]);
    expect(await ids('?narrowed=include&pipeline_name=nightly')).toEqual([every, group]);
    expect(await ids('?narrowed=exclude&per_page=1&pipeline_name=CI')).toEqual([every]);
  });

  test('shows one that is narrowed to axes only to legs with these, or to clients that compare axes themselves', async () => {
    const { create, ids } = freshRepository();
    const every = await create({});
    const windows = await create({ axes: { os: ['windows'] } });
    const either = await create({ axes: { os: ['linux', 'windows'] } });
    const both = await create({ axes: { os: ['windows'], 'python-version': ['3.13'] } });
    const ofJob = await create({ axes: { os: ['windows'] }, job_name: 'unit' });
    for (const query of ['', '?pipeline_name=CI&job_name=unit', '?axis=os:macos', '?axis=python-version:3.13'])
      expect([query, await ids(query)]).toEqual([query, [every]]);
    expect(await ids('?axis=os:linux')).toEqual([every, either]);
    expect(await ids('?axis=os:windows')).toEqual([every, windows, either]);
    expect(await ids('?axis=os:windows&axis=python-version:3.12')).toEqual([every, windows, either]);
    expect(await ids('?axis=os:windows&axis=python-version:3.13')).toEqual([every, windows, either, both]);
    expect(await ids('?axis=os:windows&job_name=unit&per_page=100')).toEqual([every, windows, either, ofJob]);
    expect(await ids('?narrowed=include')).toEqual([every, windows, either, both, ofJob]);
    expect(await ids('?narrowed=include&axis=os:linux')).toEqual([every, either]);
    expect((await app.request(`${freshRepository().base}?axis=windows`)).status).toBe(422);
  });

  test('the check knows those that are narrowed to the axes of the leg that asks, and to nothing else', async () => {
    const { create, base } = freshRepository();
    await create({ test_name: 'windows', axes: { os: ['windows'] } });
    await create({ test_name: 'of a job', axes: { os: ['windows'] }, job_name: 'unit' });
    const check = async (axes: object | undefined): Promise<unknown> => {
      const body = JSON.stringify({ tests_names: ['windows', 'of a job'], branch: 'main', axes });
      const headers = { 'content-type': 'application/json' };
      return (await app.request(`${base}/check`, { method: 'POST', body, headers })).json();
    };
    const none = { quarantined_tests_names: [], non_quarantined_tests_names: ['windows', 'of a job'] };
    for (const axes of [undefined, {}, { os: 'linux' }]) expect(await check(axes)).toEqual(none);
    expect(await check(JSON.parse('{"os":"windows","__proto__":"x"}'))).toMatchObject({ status: 422 });
    expect(await check({ os: 'windows', cpu: 'arm' })).toEqual({
      quarantined_tests_names: ['windows'],
      non_quarantined_tests_names: ['of a job'],
    });
  });

  test('the check of older clients, which go by names alone, knows no narrowed quarantine', async () => {
    const { create, base } = freshRepository();
    await create({ test_name: 'narrowed', job_name: 'unit' });
    await create({ test_name: 'every' });
    const body = JSON.stringify({ tests_names: ['narrowed', 'every'], branch: 'main' });
    const headers = { 'content-type': 'application/json' };
    const response = await app.request(`${base}/check`, { method: 'POST', body, headers });
    expect(await response.json()).toEqual({
      quarantined_tests_names: ['every'],
      non_quarantined_tests_names: ['narrowed'],
    });
  });
});
