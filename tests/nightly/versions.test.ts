/**
 * The last release and this version side by side on the same stores, as during a rolling upgrade: before, during and after
 * the migrations, with workers and APIs of both. Without a release, see other-version.ts.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
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
import { jobEnvironment } from '../clients/support/job.ts';
import { run } from '../clients/support/run.ts';
import { NEW, pass, reportOf } from '../clients/support/shop.ts';
import { startClickHouseServer } from '../support/clickhouse-http.ts';
import { labelled, makeEventsJob } from '../support/events.ts';
import { makeJob } from '../support/jobs.ts';
import { installOther, OTHER } from '../support/other-version.ts';
import { PATIENCE_MS } from '../support/patience.ts';
import { hasRedis, startRedis } from '../support/redis.ts';
import { CLI, ROOT, ServiceProcess } from '../support/service-process.ts';
import { expectStoredExactly } from '../support/stored-exactly.ts';

const REPOSITORY = { host: 'github.com', owner: 'acme', name: 'versions' };
const EXECUTIONS = 40;

/** Jobs in version 1 of their formats: plain and compressed. */
const RECORDED = JSON.parse(readFileSync(join(ROOT, 'tests/fixtures/jobs/v1.json'), 'utf8')) as Record<
  string,
  unknown[]
>;

const BACKENDS: readonly {
  queue: string;
  isHere: boolean;
  start?: () => Promise<{ url: string; stop(): Promise<void> }>;
}[] = [
  { queue: 'PostgreSQL', isHere: true },
  { queue: 'Redis', isHere: hasRedis, start: startRedis },
];

describe.each(BACKENDS)(`${OTHER} and this version, with the queue in $queue`, ({ isHere, start }) => {
  let folder: string;
  /** With the files of the other version. */
  let tree: string;
  let environment: Record<string, string | undefined>;
  let deps: Deps;
  let queues: QueueBackend;
  let producers: Producers;
  let other: ServiceProcess;
  let current: ServiceProcess;
  let close: (() => Promise<void>) | undefined;
  const sent = { executions: 0, events: 0, runs: 0 };

  beforeAll(async () => {
    if (!isHere) return;
    folder = mkdtempSync(join(tmpdir(), 'ci-insights-versions-'));
    tree = installOther(folder);
    const [postgres, clickhouse, redis] = await Promise.all([
      startEmbeddedPostgres(folder),
      startClickHouseServer(),
      start?.(),
    ]);
    environment = {
      DATABASE_URL: postgres.url,
      CLICKHOUSE_URL: clickhouse.url,
      REDIS_URL: redis?.url,
      DATA_DIR: folder,
    };
    other = new ServiceProcess('worker', environment, { root: tree });
    current = new ServiceProcess('worker', environment);
    await migratePostgresQueues(postgres.url);
    const { url = postgres.url } = redis ?? {};
    queues = await (redis ? openRedisQueues : openPostgresQueues)(url, () => {});
    producers = new Producers(queues);
    close = async () => {
      await Promise.all([other.stop(), current.stop()]);
      await deps?.close();
      await producers.close();
      await queues.close();
      await Promise.all([postgres.stop(), clickhouse.stop(), redis?.stop()]);
      rmSync(folder, { recursive: true, force: true });
    };
  });
  afterAll(() => close?.());

  async function send(jobs: number): Promise<void> {
    for (let i = 0; i < jobs; i++) {
      const job = nextJob();
      await producers.of(testRuns).add(job);
      // The same again: whichever version takes it knows it already.
      if (sent.runs % 3 === 0) await producers.of(testRuns).addAgain(`again-${sent.runs}`, job);
      await producers.of(prEvents).add(makeEventsJob(REPOSITORY, [labelled(`event ${sent.runs}`)]));
      sent.events++;
    }
  }

  /** Three uploads in one job. */
  async function sendBundle(): Promise<void> {
    const jobs = [nextJob(), nextJob(), nextJob()];
    const chunks = jobs.map((job) => ({ id: testRuns.id(job), json: JSON.stringify(job), trace: undefined }));
    await producers.of(uploadBundles).addPacked([packBundle(`bundle-${sent.runs}`, chunks)]);
  }

  function nextJob() {
    const run = { run_id: `${sent.runs}`, commit: `c${sent.runs}` };
    sent.runs++;
    sent.executions += EXECUTIONS;
    const executions = Array.from({ length: EXECUTIONS }, (_, n) => ({ name: `t${n}` }));
    return makeJob({ repository: REPOSITORY, executions, run, receivedAt: Date.now() });
  }

  const expectExact = (): Promise<void> =>
    expectStoredExactly(deps, { executions: sent.executions, events: sent.events }, PATIENCE_MS);

  test.skipIf(!isHere)('this version migrates while the other ingests, and both work side by side', async () => {
    for (const [queue, jobs] of Object.entries(RECORDED))
      for (const [i, data] of jobs.entries()) await producers.ofQueue(queue)?.addAgain(`recorded-${queue}-${i}`, data);
    sent.executions += 3;
    sent.events += 2;
    await other.start();
    const load = send(25);
    await current.start();
    await load;
    deps = await openDeps(readConfig(environment), { log: createLogger('error') });
    await send(10);
    await sendBundle();
    await expectExact();
  });

  test.skipIf(!isHere)('the client of each stores its reports through the API of the other, once', async () => {
    const serve = { ...environment, ROLE: 'api', PORT: '0' };
    const apis = {
      other: new ServiceProcess('serve', serve, { root: tree }),
      current: new ServiceProcess('serve', serve),
    };
    const key = { name: 'both', owner: null, scope: 'admin', repositories: null, expiresAt: null } as const;
    const { token } = await deps.keys.create(key);
    try {
      await Promise.all(Object.values(apis).map((api) => api.start()));
      const push = async (cli: string, { origin }: ServiceProcess, runId: string) => {
        const report = join(folder, 'report.xml');
        writeFileSync(report, reportOf([NEW, pass('pays')]));
        const job = jobEnvironment({ origin, token }, { repository: REPOSITORY.name, runId });
        const env = { ...job, CI_INSIGHTS_URL: origin, CI_INSIGHTS_TOKEN: token };
        const { code, printed } = await run([process.execPath, cli, 'push', 'junit', report], { env });
        return [code, /\d+ executions accepted, \d+ duplicate/.exec(printed)?.[0] ?? printed];
      };
      const theirs = join(tree, 'src/cli.ts');
      expect(await push(theirs, apis.current, '1')).toEqual([0, '2 executions accepted, 0 duplicate']);
      expect(await push(CLI, apis.other, '1')).toEqual([0, '0 executions accepted, 2 duplicate']);
      expect(await push(CLI, apis.other, '2')).toEqual([0, '2 executions accepted, 0 duplicate']);
      sent.executions += 4;
      await expectExact();
      const found = async ({ origin }: ServiceProcess) => {
        const url = `${origin}/v1/ci/acme/repositories/${REPOSITORY.name}/search/tests?test_name=*`;
        const { tests } = (await (await fetch(url, { headers: { authorization: `Bearer ${token}` } })).json()) as {
          tests: { test_name: string }[];
        };
        return tests.map(({ test_name }) => test_name);
      };
      expect((await found(apis.other)).length).toBeGreaterThan(0);
      expect(await found(apis.other)).toEqual(await found(apis.current));
    } finally {
      await Promise.all(Object.values(apis).map((api) => api.stop()));
    }
  });

  test.skipIf(!isHere)('the other version stores alone after the migrations, nothing twice', async () => {
    await current.stop();
    await send(10);
    await expectExact();
  });

  test.skipIf(!isHere)('the other version starts again on the migrated stores, and this one after it', async () => {
    await other.stop();
    await send(5);
    await other.start();
    await send(5);
    await expectExact();
    await other.stop();
    await send(5);
    await current.start();
    await expectExact();
  });
});
