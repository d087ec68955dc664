/** Uploads that were refused are seen where uploads are listed, by everyone who may read the repository. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { NO_ORIGIN, REFUSALS_OF_REPOSITORY_MAX } from '../../src/domain/upload-origin.ts';
import { mountReceiptLists } from '../../src/ingest/receipts.ts';
import { RefusalNotes } from '../../src/ingest/refusals.ts';
import { createLogger } from '../../src/observability/log.ts';
import { RefusedUploads } from '../../src/postgres/refused-uploads.ts';
import { TEST_NOW } from '../support/clock.ts';
import { junitReport, Uploads } from '../support/gateway.ts';
import { linksOf } from '../support/http.ts';
import { otlpJson } from '../support/otlp.ts';
import { openTestStores, uniqueRepository } from '../support/stores.ts';

interface Listed {
  id: string;
  status: string;
  failure: string | null;
  refusals: number;
  sender: string | null;
  format: string | null;
  job_name: string | null;
  branch: string | null;
  received_at: string;
}

let uploads: Uploads;
let view: string;
beforeAll(async () => {
  const { receipts } = await openTestStores();
  uploads = await Uploads.open([(app, http) => mountReceiptLists(app, http, receipts)]);
  view = await uploads.app.makeKey({ scope: 'view' });
});
afterAll(() => uploads.close());

const QUERY = 'pipeline_name=CI&job_name=unit&run_id=1&branch=refs/heads/main&commit=c1&run_attempt=2';

async function send(
  path: string,
  body: string,
  { type = 'application/xml', token }: { type?: string; token?: string } = {},
) {
  const headers = { 'content-type': type };
  return uploads.app.request(path, { method: 'POST', headers, body, ...(token === undefined ? {} : { token }) });
}

async function listOf(base: string, query = ''): Promise<Listed[]> {
  const response = await uploads.app.request(`${base}/uploads${query}`, { token: view });
  expect(response.status).toBe(200);
  return ((await response.json()) as { uploads: Listed[] }).uploads;
}

describe('a refused upload', () => {
  test('that is not XML is listed with sender, job, branch, format and reason, for a key that may only read', async () => {
    const { base } = uploads.repository();
    const token = await uploads.app.makeKey({ name: 'ci of acme' });
    const refused = await send(`${base}/junit?${QUERY}`, 'no XML', { token });
    expect(refused.status).toBe(422);
    const { detail } = (await refused.json()) as { detail: string };
    const [listed, ...more] = await listOf(base);
    expect(more).toEqual([]);
    expect(listed).toMatchObject({
      ...{ status: 'refused', failure: detail, refusals: 1, sender: 'ci of acme', format: 'junit' },
      ...{ pipeline_name: 'CI', job_name: 'unit', run_id: '1', run_attempt: 2, branch: 'main', commit_sha: 'c1' },
      ...{ accepted: 0, duplicate: 0, rejected: 0, conflicting: 0, stored_at: null },
    });
    const one = await uploads.app.request(`${base}/uploads/${listed?.id}`, { token: view });
    expect(await one.json()).toMatchObject({ status: 'refused', failure: detail });
  });

  test.each<[string, string, string, number]>([
    ['a wrong parameter', '/junit?run_attempt=0&job_name=unit', '<testsuite/>', 422],
    ['the type of another format', '/junit?job_name=unit', '{}', 422],
    ['a report without what its format has', '/playwright?job_name=unit', '{}', 422],
    ['an export that cannot be read', '/traces', 'x', 422],
  ])('for %s is listed', async (_, path, body, status) => {
    const { base } = uploads.repository();
    const type = body === '<testsuite/>' ? 'application/xml' : 'application/json';
    expect((await send(`${base}${path}`, body, { type })).status).toBe(status);
    expect(await listOf(base)).toMatchObject([{ status: 'refused', refusals: 1 }]);
  });

  test('a body beyond its limit is listed', async () => {
    const { base } = uploads.repository();
    expect((await send(`${base}/junit?${QUERY}`, ' '.repeat(26 * 1024 * 1024))).status).toBe(413);
    expect(await listOf(base)).toMatchObject([{ status: 'refused', job_name: 'unit', branch: 'main' }]);
  });

  test('an export of which every span was rejected is listed: it has no receipt', async () => {
    const { base } = uploads.repository();
    const body = otlpJson({ resource: {}, spans: [{ name: '' }] });
    expect((await send(`${base}/traces`, body, { type: 'application/json' })).status).toBe(200);
    expect(await listOf(base)).toMatchObject([
      { status: 'refused', format: 'otlp', failure: '1 rejected: the span has no name, so the test has none' },
    ]);
  });

  test('of someone without access is not listed', async () => {
    const { base } = uploads.repository();
    const stranger = await uploads.app.makeKey({ owner: 'another-owner' });
    expect((await send(`${base}/junit?${QUERY}`, 'no XML', { token: stranger })).status).toBe(403);
    expect((await send(`${base}/junit?${QUERY}`, 'no XML', { token: view })).status).toBe(403);
    expect(await listOf(base)).toEqual([]);
  });
});

describe('the list', () => {
  test('those that are alike are one entry with a count', async () => {
    const { base } = uploads.repository();
    for (let i = 0; i < 3; i++) await send(`${base}/junit?${QUERY}`, 'no XML');
    await Promise.all([1, 2, 3, 4].map(() => send(`${base}/junit?${QUERY}`, 'no XML')));
    await send(`${base}/junit?${QUERY.replace('unit', 'e2e')}`, 'no XML');
    const listed = await listOf(base);
    expect(listed.map(({ job_name, refusals }) => `${job_name} ${refusals}`).sort()).toEqual(['e2e 1', 'unit 7']);
  });

  test('a job that sends nonsense under ever new names keeps no more than the newest', async () => {
    const { owner, name } = uniqueRepository();
    const refused = new RefusedUploads(uploads.app.stores.postgres.db);
    const refusal = { ...NO_ORIGIN, owner, repository: name, reason: 'no XML', refusals: 1 };
    for (let i = 0; i < REFUSALS_OF_REPOSITORY_MAX + 20; i += 20)
      await refused.add(
        Array.from({ length: 20 }, (_, j) => ({ ...refusal, jobName: `job ${i + j}` })),
        TEST_NOW + i,
      );
    const page = await refused.page({ repository: { owner, name }, key: null, direction: 'next', rows: 1_000 });
    expect(page).toHaveLength(REFUSALS_OF_REPOSITORY_MAX);
    expect(page.some(({ jobName }) => jobName === 'job 0')).toBe(false);
    await refused.forget(new Date(TEST_NOW + 10_000));
    expect(await refused.page({ repository: { owner, name }, key: null, direction: 'next', rows: 1_000 })).toEqual([]);
  });

  test('refused and stored uploads come in order of time, through all pages and back', async () => {
    const { base } = uploads.repository();
    const { clock } = uploads.app.stores;
    try {
      for (let i = 0; i < 3; i++) {
        clock.set(TEST_NOW + 2 * i * 1_000);
        await send(`${base}/junit?${QUERY}`, `no XML ${i}`, { type: `application/x-${i}` });
        clock.set(TEST_NOW + (2 * i + 1) * 1_000);
        await uploads.junit(base, junitReport([{ name: 'a' }]), { run_id: String(i) });
      }
    } finally {
      await uploads.driver.settle();
      clock.set(TEST_NOW);
    }
    const all = await listOf(base);
    expect(all.map(({ status }) => status)).toEqual(['stored', 'refused', 'stored', 'refused', 'stored', 'refused']);
    const seen: string[] = [];
    let prev = '';
    for (let path: string | undefined = `${base}/uploads?per_page=2`; path !== undefined; ) {
      const response = await uploads.app.request(path);
      seen.push(...((await response.json()) as { uploads: Listed[] }).uploads.map(({ id }) => id));
      path = linksOf(response).next;
      prev = linksOf(response).prev ?? prev;
    }
    expect(seen).toEqual(all.map(({ id }) => id));
    const before = (await (await uploads.app.request(prev)).json()) as { uploads: Listed[] };
    expect(before.uploads.map(({ id }) => id)).toEqual(seen.slice(2, 4));
  });

  test('with problems: refused, rejected in parts, in conflict, with a warning; not those that are fine', async () => {
    const { base } = uploads.repository();
    await send(`${base}/junit?${QUERY}`, 'no XML');
    await uploads.store(base, junitReport([{ name: 'fine' }]), { run_id: 'fine', report: 'r' });
    await uploads.store(base, junitReport([{ name: 'fine', inside: '<failure/>' }]), { run_id: 'fine', report: 'r' });
    await uploads.store(base, junitReport([{ name: 'x'.repeat(10_001) }]), { run_id: 'rejected' });
    await uploads.store(base, '<testsuite><testcase name="a"/><testcase', { run_id: 'cut' });
    const found = (await listOf(base, '?has_problems=true')) as (Listed & { run_id: string })[];
    expect(found.map(({ run_id }) => run_id).sort()).toEqual(['1', 'cut', 'fine', 'rejected']);
    expect((await listOf(base, '?has_rejections=true')) as unknown[]).toMatchObject([{ run_id: 'rejected' }]);
  });

  test('a stored upload says who sent it, in which format, from which job and branch', async () => {
    const { base } = uploads.repository();
    const token = await uploads.app.makeKey({ name: 'ci of shop' });
    expect((await send(`${base}/junit?${QUERY}`, junitReport([{ name: 'a' }]), { token })).status).toBe(202);
    await uploads.driver.settle();
    expect(await listOf(base)).toMatchObject([
      {
        status: 'stored',
        sender: 'ci of shop',
        format: 'junit',
        job_name: 'unit',
        branch: 'main',
        pipeline_name: 'CI',
      },
    ]);
  });
});

describe('notes of refusals', () => {
  const refusal = { ...NO_ORIGIN, owner: 'acme', repository: 'shop', reason: 'no XML' };

  test('while one is written, all others are one statement', async () => {
    const written: number[][] = [];
    const notes = new RefusalNotes(async (refused) => {
      await Bun.sleep(20);
      written.push(refused.map(({ refusals }) => refusals));
    }, createLogger('fatal'));
    await Promise.all(Array.from({ length: 10 }, (_, i) => notes.note({ ...refusal, jobName: `job ${i % 2}` })));
    expect(written.flat().reduce((sum, count) => sum + count, 0)).toBe(10);
    expect(written.length).toBeLessThanOrEqual(2);
  });

  test('a store that is away costs the sender no answer', async () => {
    const notes = new RefusalNotes(() => Promise.reject(new Error('away')), createLogger('fatal'));
    await notes.note(refusal);
    await notes.note(refusal);
    const stuck = new RefusalNotes(() => new Promise(() => {}), createLogger('fatal'));
    await stuck.note(refusal);
  });
});
