/** The lists of uploads with their receipts. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mountReceiptLists } from '../../src/ingest/receipts.ts';
import { TEST_NOW } from '../support/clock.ts';
import { linksOf, openTestApp, type TestApp } from '../support/http.ts';
import { IngestDriver } from '../support/ingest.ts';
import { makeJob } from '../support/jobs.ts';
import { openTestStores, uniqueRepository } from '../support/stores.ts';

interface Uploads {
  size: number;
  uploads: { id: string; owner: string; repository: string; status: string; rejected: number; rejections: object[] }[];
}

const repository = uniqueRepository();
const { owner, name } = repository;
const base = `/v1/ci/${owner}/repositories/${name}/uploads`;
const MINUTE_MS = 60_000;
let app: TestApp;
let driver: IngestDriver;
/** Newest first. Received a minute after each other, but the first two at the same time. */
let ids: string[];

/** An upload in as many jobs as there are parts. */
const jobsOf = (minutesAgo: number, parts: { rejected?: number }[]) => {
  const uploadId = Bun.randomUUIDv7();
  const receivedAt = TEST_NOW - minutesAgo * MINUTE_MS;
  return parts.map(({ rejected = 0 }, i) => ({
    ...makeJob({ repository, receivedAt, uploadId, executions: [{ name: `test ${i}` }], source: `${uploadId} ${i}` }),
    chunk: { index: i, count: parts.length },
    rejections: rejected === 0 ? [] : [{ reason: 'the test has no name', count: rejected, examples: ['<b>odd</b>'] }],
  }));
};

beforeAll(async () => {
  const stores = await openTestStores();
  app = await openTestApp({ features: [(elysia, http) => mountReceiptLists(elysia, http, stores.receipts)] });
  driver = new IngestDriver(stores);
  const uploads = [
    jobsOf(1, [{}]),
    jobsOf(1, [{}]),
    jobsOf(2, [{ rejected: 2 }, {}, { rejected: 1 }]),
    jobsOf(3, [{}]),
    jobsOf(4, [{ rejected: 5 }]),
  ];
  await driver.ingest(...uploads.flat());
  ids = uploads
    .flatMap(([first]) => (first ? [first] : []))
    .sort((a, b) => b.received_at.localeCompare(a.received_at) || b.upload_id.localeCompare(a.upload_id))
    .map(({ upload_id }) => upload_id);
});
afterAll(() => driver.stop());

const idsAt = async (path: string) => (await app.get<Uploads>(path)).uploads.map(({ id }) => id);

/** Other tests have uploads in the same stores. */
async function idsOnAllPages(first: string): Promise<string[]> {
  const found: string[] = [];
  for (let path: string | undefined = first; path !== undefined; ) {
    const response = await app.request(path);
    found.push(...((await response.json()) as Uploads).uploads.map(({ id }) => id));
    path = linksOf(response).next;
  }
  return found;
}

test('an upload is listed once, however many jobs it took, with the receipt that it has', async () => {
  const { uploads } = await app.get<Uploads>(base);
  expect(uploads.map(({ id }) => id)).toEqual(ids);
  const [, , parted] = uploads;
  expect(parted).toMatchObject({ owner, repository: name, status: 'stored', rejected: 3 });
  expect(parted?.rejections).toEqual([
    { reason: 'the test has no name', count: 3, examples: ['<b>odd</b>', '<b>odd</b>'] },
  ]);
  for (const { id, ...listed } of uploads) {
    const receipt = await app.stores.receipts.find(owner, name, id);
    expect(listed).toMatchObject({ status: receipt?.status, rejected: receipt?.rejected });
  }
});

test('pages lead through all uploads and back, also between those that arrived at the same time', async () => {
  const seen: string[] = [];
  let path: string | undefined = `${base}?per_page=1`;
  let last = '';
  while (path !== undefined) {
    last = path;
    const response = await app.request(path);
    seen.push(...((await response.json()) as Uploads).uploads.map(({ id }) => id));
    path = linksOf(response).next;
  }
  expect(seen).toEqual(ids);
  const { prev = '' } = linksOf(await app.request(last));
  expect(await idsAt(prev)).toEqual(ids.slice(-2, -1));
});

test('those with rejected rows can be asked for, of the repository and of all', async () => {
  const rejected = [ids[2], ids[4]];
  expect(await idsAt(`${base}?has_rejections=true`)).toEqual(rejected.map(String));
  const ofAll = async (path: string) => (await idsOnAllPages(path)).filter((id) => ids.includes(id));
  expect(await ofAll('/v1/uploads?has_rejections=true&per_page=100')).toEqual(rejected.map(String));
  expect(await ofAll('/v1/uploads?per_page=100')).toEqual(ids);
});

test('a cursor leads through the list that it comes from only', async () => {
  const { next = '' } = linksOf(await app.request(`${base}?per_page=1`));
  const { searchParams } = new URL(next);
  const cursor = encodeURIComponent(searchParams.get('cursor') ?? '');
  expect((await app.request(`${base}?has_rejections=true&cursor=${cursor}`)).status).toBe(422);
  expect((await app.request(`/v1/uploads?cursor=${cursor}`)).status).toBe(422);
});

test('a repository without uploads has none', async () => {
  const { owner, name } = uniqueRepository();
  expect(await app.get<Uploads>(`/v1/ci/${owner}/repositories/${name}/uploads`)).toMatchObject({
    size: 0,
    uploads: [],
  });
});
