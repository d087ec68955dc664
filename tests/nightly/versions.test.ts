/** The last released version and this one side by side on the same stores, before, during and after the migrations. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConfig } from '../../src/config.ts';
import { type Deps, openDeps } from '../../src/deps.ts';
import { createLogger } from '../../src/observability/log.ts';
import { startEmbeddedPostgres } from '../../src/postgres/embedded.ts';
import {
  migratePostgresQueues,
  openPostgresQueues,
  openRedisQueues,
  type QueueBackend,
} from '../../src/queue/backend.ts';
import { prEvents } from '../../src/queue/pr-events.ts';
import { Producers } from '../../src/queue/producer.ts';
import { testRuns } from '../../src/queue/test-runs.ts';
import { packBundle, uploadBundles } from '../../src/queue/upload-bundles.ts';
import { startClickHouseServer } from '../support/clickhouse-http.ts';
import { labelled, makeEventsJob } from '../support/events.ts';
import { makeJob } from '../support/jobs.ts';
import { hasRedis, startRedis } from '../support/redis.ts';
import { hasReleased, installReleased } from '../support/released.ts';
import { ROOT, ServiceProcess } from '../support/service-process.ts';
import { expectStoredExactly } from '../support/stored-exactly.ts';

const REPOSITORY = { host: 'github.com', owner: 'acme', name: 'versions' };
const EXECUTIONS = 40;
const WAIT_MS_MAX = 50_000;

/** Jobs as the released version queued them: plain and compressed. */
const RECORDED = JSON.parse(readFileSync(join(ROOT, 'tests/fixtures/jobs/v1.json'), 'utf8')) as Record<
  string,
  unknown[]
>;

const BACKENDS: readonly {
  queue: string;
  isHere: boolean;
  start?: () => Promise<{ url: string; stop(): Promise<void> }>;
}[] = [
  { queue: 'PostgreSQL', isHere: hasReleased },
  { queue: 'Redis', isHere: hasReleased && hasRedis, start: startRedis },
];

describe.each(BACKENDS)('the released version and this one, with the queue in $queue', ({ isHere, start }) => {
  let folder: string;
  let deps: Deps;
  let queues: QueueBackend;
  let producers: Producers;
  let released: ServiceProcess;
  let current: ServiceProcess;
  let close: (() => Promise<void>) | undefined;
  const sent = { executions: 0, events: 0, runs: 0 };

  beforeAll(async () => {
    if (!isHere) return;
    folder = mkdtempSync(join(tmpdir(), 'ci-insights-versions-'));
    const tree = installReleased(folder);
    const [postgres, clickhouse, redis] = await Promise.all([
      startEmbeddedPostgres(folder),
      startClickHouseServer(),
      start?.(),
    ]);
    const environment = {
      DATABASE_URL: postgres.url,
      CLICKHOUSE_URL: clickhouse.url,
      REDIS_URL: redis?.url,
      DATA_DIR: folder,
    };
    released = new ServiceProcess('worker', environment, { root: tree });
    current = new ServiceProcess('worker', environment);
    await migratePostgresQueues(postgres.url);
    const { url = postgres.url } = redis ?? {};
    queues = await (redis ? openRedisQueues : openPostgresQueues)(url, () => {});
    producers = new Producers(queues);
    close = async () => {
      await Promise.all([released.stop(), current.stop()]);
      await deps?.close();
      await producers.close();
      await queues.close();
      await Promise.all([postgres.stop(), clickhouse.stop(), redis?.stop()]);
      rmSync(folder, { recursive: true, force: true });
    };
    openCurrent = () => openDeps(readConfig(environment), { log: createLogger('error') });
  });
  afterAll(() => close?.());

  let openCurrent: () => Promise<Deps>;

  async function send(jobs: number): Promise<void> {
    for (let i = 0; i < jobs; i++, sent.runs++) {
      const now = Date.now();
      const executions = Array.from({ length: EXECUTIONS }, (_, n) => ({ name: `t${n}` }));
      const run = { run_id: `${sent.runs}`, commit: `c${sent.runs}` };
      const job = makeJob({ repository: REPOSITORY, executions, run, receivedAt: now });
      await producers.of(testRuns).add(job);
      // The same again: whichever version takes it knows it already.
      if (sent.runs % 3 === 0) await producers.of(testRuns).addAgain(`again-${sent.runs}`, job);
      await producers.of(prEvents).add(makeEventsJob(REPOSITORY, [labelled(`event ${sent.runs}`)]));
      sent.executions += EXECUTIONS;
      sent.events++;
    }
  }

  /** Three uploads in one job, which the released version does not know. */
  async function sendBundle(): Promise<void> {
    const jobs = [0, 1, 2].map(() => {
      const executions = Array.from({ length: EXECUTIONS }, (_, n) => ({ name: `t${n}` }));
      const run = { run_id: `${sent.runs}`, commit: `c${sent.runs++}` };
      return makeJob({ repository: REPOSITORY, executions, run, receivedAt: Date.now() });
    });
    const chunks = jobs.map((job) => ({ id: testRuns.id(job), json: JSON.stringify(job), trace: undefined }));
    await producers.of(uploadBundles).addPacked([packBundle(`bundle-${sent.runs}`, chunks)]);
    sent.executions += 3 * EXECUTIONS;
  }

  /** Whether the gateway would make bundles. */
  async function expectBundlesTaken(areTaken: boolean): Promise<void> {
    const { readers } = producers.of(uploadBundles);
    const until = Date.now() + WAIT_MS_MAX;
    for (await readers.ask(); readers.isRead() !== areTaken && Date.now() < until; await readers.ask())
      await Bun.sleep(200);
    expect(readers.isRead()).toBe(areTaken);
  }

  const expectExact = (options = {}): Promise<void> =>
    expectStoredExactly(deps, { executions: sent.executions, events: sent.events }, WAIT_MS_MAX, options);

  test.skipIf(!isHere)('this version migrates while the released one ingests, and both work side by side', async () => {
    for (const [queue, jobs] of Object.entries(RECORDED))
      for (const [i, data] of jobs.entries()) await producers.ofQueue(queue)?.addAgain(`recorded-${queue}-${i}`, data);
    sent.executions += 3;
    sent.events += 2;
    await released.start();
    await expectBundlesTaken(false);
    const load = send(25);
    await current.start();
    await load;
    deps = await openCurrent();
    await expectBundlesTaken(true);
    await send(10);
    await sendBundle();
    await expectExact();
  });

  test.skipIf(!isHere)(
    'the released version stores alone after the migrations, nothing twice, and its blocks wait for this one',
    async () => {
      await current.stop();
      await send(10);
      await expectExact({ isEvaluated: false });
    },
  );

  test.skipIf(!isHere)('the released version starts again on the migrated stores, and this one after it', async () => {
    await released.stop();
    await send(5);
    await released.start();
    await send(5);
    await expectExact({ isEvaluated: false });
    await released.stop();
    await send(5);
    await current.start();
    await expectExact();
  });

  test.skipIf(!isHere)(
    'jobs that the released version does not know wait for this one, and the gateway makes none meanwhile',
    async () => {
      await current.stop();
      await released.start();
      await expectBundlesTaken(false);
      await sendBundle();
      await send(3);
      const until = Date.now() + WAIT_MS_MAX;
      while ((await producers.of(testRuns).depth()) > 0 && Date.now() < until) await Bun.sleep(100);
      expect(await producers.of(uploadBundles).depth()).toBe(1);
      expect(await deps.deadLetters.list()).toEqual([]);
      await current.start();
      await expectExact();
    },
  );
});
