/** Ingestion: from the queue to queryable, compared with the same blocks inserted by the same connections without the ledger. */
import { and, inArray, isNotNull } from 'drizzle-orm';
import { v7 as uuid7 } from 'uuid';
import { migrateClickHouse } from '../../src/clickhouse/migrate.ts';
import type { Deps } from '../../src/deps.ts';
import { repositoryIdOf } from '../../src/domain/identity.ts';
import { lineOf } from '../../src/ledger/block.ts';
import { prepareChunk } from '../../src/ledger/prepare.ts';
import { uploadChunks } from '../../src/postgres/schema.ts';
import { type TestRunsJob, testRuns } from '../../src/queue/test-runs.ts';
import { BLOCK_EXECUTIONS_MAX } from '../../workers/batcher.ts';
import { startWorkers } from '../../workers/main.ts';
import { makeJobs } from './data.ts';
import { type Figure, figure, quantile } from './report.ts';

const CHUNK = 1_000;

export interface IngestOptions {
  seed: number;
  executions: number;
  now: number;
}

export async function benchIngest(deps: Deps, options: IngestOptions): Promise<Figure[]> {
  const source = {
    seed: options.seed,
    executions: options.executions,
    tests: 20_000,
    repositories: 5,
    chunk: CHUNK,
    now: options.now,
    days: 30,
  };
  const floor = await withoutLedger(deps, source);
  await empty(deps);

  // Everything is in the queue before the clock starts: generating the data is not part of the service.
  const queued: TestRunsJob[] = [];
  for (const job of makeJobs({ ...source, seed: options.seed + 1 })) {
    queued.push(job);
    if (queued.length >= 20) await deps.producers.of(testRuns).addMany(queued.splice(0));
  }
  await deps.producers.of(testRuns).addMany(queued);
  Bun.gc(true);
  const before = process.memoryUsage().rss;
  const memory = watchMemory();
  const started = performance.now();
  const workers = startWorkers(deps);
  await untilEmpty(deps);
  const seconds = (performance.now() - started) / 1_000;
  const rate = options.executions / seconds;
  const memoryMax = memory.stop();
  await workers.evaluator.loop.idle();
  const evaluatedSeconds = (performance.now() - started) / 1_000;

  const lag = await lagAt(
    deps,
    { ...source, seed: options.seed + 2, executions: Math.round((rate / 2) * 10) },
    rate / 2,
  );
  // The next measurement must not run beside the evaluation of this one.
  await workers.evaluator.loop.idle();
  await workers.stop();
  const backend = deps.queues.kind;
  return [
    figure(`ingest.rate_${backend}`, rate, 'executions/s', floor, { atLeast: backend === 'redis' ? 0.6 : 0.4 }),
    figure(`ingest.rate_evaluated_${backend}`, options.executions / evaluatedSeconds, 'executions/s', floor, {}),
    figure(`ingest.lag_p99_${backend}`, lag / 1_000, 's', null, { atMost: 2 }),
    figure(`ingest.memory_${backend}`, (memoryMax - before) / 2 ** 20, 'MiB', null, { atMost: 400 }),
  ];
}

/** The same executions in blocks of the same size, two inserts at a time, as the service does. */
async function withoutLedger(deps: Deps, source: Parameters<typeof makeJobs>[0]): Promise<number> {
  const blocks: string[] = [];
  let lines: string[] = [];
  let executions = 0;
  for (const job of makeJobs(source)) {
    const repositoryId = repositoryIdOf('github.com', job.repository.owner, job.repository.name);
    const chunk = prepareChunk(job, { repositoryId, defaultBranch: 'main', now: source.now, retentionDays: 90 });
    lines.push(lineOf(chunk, chunk.executions));
    executions += chunk.executions.length;
    if (executions < BLOCK_EXECUTIONS_MAX) continue;
    blocks.push(`${lines.join('\n')}\n`);
    lines = [];
    executions = 0;
  }
  if (lines.length > 0) blocks.push(`${lines.join('\n')}\n`);
  const started = performance.now();
  const insert = async (first: number): Promise<void> => {
    for (let i = first; i < blocks.length; i += 2)
      await deps.clickhouse.insert('ci.ingest', blocks[i] as string, `floor-${uuid7()}`);
  };
  await Promise.all([insert(0), insert(1)]);
  return source.executions / ((performance.now() - started) / 1_000);
}

/** How long after it was queued an execution can be read, at a steady rate: the 99th percentile in milliseconds. */
async function lagAt(deps: Deps, source: Parameters<typeof makeJobs>[0], rate: number): Promise<number> {
  const lags: number[] = [];
  const sentAt = new Map<string, number>();
  let isSending = true;
  // One query for all pending executions, so that measuring adds no load.
  const watching = (async () => {
    while (isSending || sentAt.size > 0) {
      for (const uploadId of await storedOf(deps, [...sentAt.keys()])) {
        lags.push(performance.now() - (sentAt.get(uploadId) as number));
        sentAt.delete(uploadId);
      }
      await Bun.sleep(25);
    }
  })();
  const started = performance.now();
  let index = 0;
  for (const job of makeJobs(source)) {
    const due = started + (index * CHUNK * 1_000) / rate;
    if (performance.now() < due) await Bun.sleep(due - performance.now());
    sentAt.set(job.upload_id, performance.now());
    await deps.producers.of(testRuns).add(job);
    index++;
  }
  isSending = false;
  await watching;
  return quantile(lags, 0.99);
}

async function storedOf(deps: Deps, uploadIds: string[]): Promise<string[]> {
  const rows = await deps.postgres.db
    .select({ uploadId: uploadChunks.uploadId })
    .from(uploadChunks)
    .where(and(inArray(uploadChunks.uploadId, uploadIds), isNotNull(uploadChunks.storedAt)));
  return rows.map((row) => row.uploadId);
}

async function untilEmpty(deps: Deps): Promise<void> {
  while ((await deps.producers.of(testRuns).depth()) > 0) await Bun.sleep(5);
}

/** Recreates the tables: what the floor stored has no claims. */
async function empty(deps: Deps): Promise<void> {
  await deps.clickhouse.command('DROP DATABASE ci SYNC');
  await migrateClickHouse(deps.clickhouse);
}

function watchMemory(): { stop(): number } {
  let most = 0;
  const timer = setInterval(() => {
    most = Math.max(most, process.memoryUsage().rss);
  }, 100);
  return {
    stop: () => {
      clearInterval(timer);
      return most;
    },
  };
}
