/** Kept uploads in a real S3-compatible store: they move there, come back, leave, and wait while it is away. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { S3Client } from 'bun';
import { readConfig } from '../../src/config.ts';
import { DAY_MS, MINUTE_MS } from '../../src/domain/time.ts';
import type { KeptConfig } from '../../src/kept-config.ts';
import { createLogger } from '../../src/observability/log.ts';
import { uploadsKeptWaiting } from '../../src/observability/metrics.ts';
import { checkKept } from '../../src/operate/doctor/kept.ts';
import { readLine } from '../../src/queue/kept/kept-job.ts';
import { KeptUploads } from '../../src/queue/kept/kept-uploads.ts';
import { testRuns } from '../../src/queue/test-runs.ts';
import { TEST_NOW, TestClock } from '../support/clock.ts';
import { makeFolder } from '../support/folder.ts';
import { makeJob } from '../support/jobs.ts';
import { startS3Server } from '../support/s3-server.ts';

const server = await startS3Server();
const folder = makeFolder('kept-in-s3');
const clock = new TestClock(TEST_NOW);
const log = createLogger('fatal');
const credential = { accessKeyId: 'ci-insights', secretAccessKey: 'a-secret' };
const s3 = { bucket: 'kept', prefix: 'acme/', endpoint: server?.endpoint, region: 'us-east-1', ...credential };
let workers = 0;

/** A worker with its own disk. */
const openKept = (config: Partial<KeptConfig> = {}): KeptUploads =>
  new KeptUploads({ clock, log }, { days: 7, folder: join(folder, String(workers++)), s3, ...config });

/** Moto makes a bucket for an empty PUT to its name. */
const makeBucket = async (): Promise<void> => {
  expect((await fetch(`${server?.endpoint}/kept`, { method: 'PUT' })).ok).toBe(true);
};

const keep = (kept: KeptUploads, name: string): Promise<void> => {
  const repository = { host: 'github.com', owner: 'acme', name };
  const job = makeJob({ repository, receivedAt: TEST_NOW, executions: [{ name: 'sums' }] });
  return kept.keep({ queue: testRuns.name, id: testRuns.id(job), queuedAt: clock.now(), data: job, payload: job });
};

const repositoriesIn = async (kept: KeptUploads): Promise<string[]> => {
  const lines = await Promise.all((await kept.segments()).map((name) => kept.lines(name)));
  return lines.flat().flatMap((line) => readLine(line)?.repositories ?? []);
};

const keysInStore = async (): Promise<string[]> => {
  const { bucket, prefix } = s3;
  const client = new S3Client({ bucket, ...credential, ...(server && { endpoint: server.endpoint }) });
  return ((await client.list({ prefix })).contents ?? []).map(({ key }) => key);
};

beforeAll(async () => {
  if (server) await makeBucket();
});
afterAll(async () => {
  await server?.stop();
  rmSync(folder, { recursive: true, force: true });
});

test.skipIf(!server)(
  'what a minute has moves to the store, and another worker without that disk reads it',
  async () => {
    const kept = openKept();
    await keep(kept, 'shop');
    await kept.move();
    // The minute is not over.
    expect(await keysInStore()).toEqual([]);
    clock.set(TEST_NOW + 5 * MINUTE_MS);
    await keep(kept, 'cart');
    await kept.move();
    expect(await keysInStore()).toHaveLength(1);
    const other = openKept();
    expect(await repositoriesIn(other)).toEqual(['acme/shop']);
    expect((await repositoriesIn(kept)).sort()).toEqual(['acme/cart', 'acme/shop']);
    // A worker that stops leaves nothing on its disk.
    await kept.close();
    expect((await repositoriesIn(other)).sort()).toEqual(['acme/cart', 'acme/shop']);
  },
);

test.skipIf(!server)(
  'while the store is away, nothing is lost and nothing is refused; a later worker on that disk moves it',
  async () => {
    const disk = join(folder, 'away');
    const kept = openKept({ folder: disk });
    await server?.stop();
    await keep(kept, 'waiting');
    clock.set(clock.now() + 10 * MINUTE_MS);
    await keep(kept, 'waiting-too');
    await expect(kept.move()).rejects.toThrow();
    expect((await uploadsKeptWaiting.get()).values[0]?.value).toBeGreaterThanOrEqual(600);
    // Stopped while it is still away.
    await kept.close();
    await server?.start();
    await makeBucket();
    clock.set(clock.now() + 10 * MINUTE_MS);
    const next = openKept({ folder: disk });
    await next.move();
    expect((await uploadsKeptWaiting.get()).values[0]?.value).toBe(0);
    expect((await repositoriesIn(openKept())).sort()).toEqual(['acme/waiting', 'acme/waiting-too']);
  },
);

test.skipIf(!server)(
  'a deleted repository leaves the store, and everything does after the configured days',
  async () => {
    const kept = openKept();
    for (const name of ['gone', 'stays']) await keep(kept, name);
    await kept.close();
    clock.set(clock.now() + 10 * MINUTE_MS);
    const later = openKept();
    await later.removeRepository({ owner: 'Acme', name: 'gone' }, clock.now());
    const left = await repositoriesIn(later);
    expect(left).toContain('acme/stays');
    expect(left).not.toContain('acme/gone');
    clock.set(clock.now() + 8 * DAY_MS);
    await later.removeOld();
    expect(await keysInStore()).toEqual([]);
  },
);

test.skipIf(!server)('doctor says whether the store answers', async () => {
  const config = readConfig({
    ...{ DATA_DIR: folder, UPLOADS_KEPT_DAYS: '7', UPLOADS_KEPT_S3: 's3://kept/acme', S3_REGION: 'us-east-1' },
    ...{ S3_ENDPOINT: server?.endpoint, S3_ACCESS_KEY_ID: 'ci-insights', S3_SECRET_ACCESS_KEY: 'a-secret' },
  });
  expect((await checkKept(config)).map(({ level }) => level)).toEqual(['ok', 'ok']);
  await server?.stop();
  const [, store] = await checkKept(config);
  expect(store).toMatchObject({ check: 'Kept uploads in S3', level: 'problem' });
  expect(await checkKept({ ...config, uploadsKept: undefined })).toEqual([]);
});
