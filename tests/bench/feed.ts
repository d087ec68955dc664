/**
 * Puts generated jobs into the queue of a service, from a separate process: generating data is not part of the service.
 * One line of output for each step: how many executions are queued, and in the end `done`.
 */
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { openQueues } from '../../src/queue/open.ts';
import { type PackedJob, packJob } from '../../src/queue/packed-job.ts';
import { Producer } from '../../src/queue/producer.ts';
import { testRuns } from '../../src/queue/test-runs.ts';
import { makeJobs, sourceSchema } from './data.ts';

const feedSchema = z.object({
  databaseUrl: z.string(),
  redisUrl: z.string().optional(),
  source: sourceSchema,
  /** Jobs of the source from here on, and before there. */
  from: z.number(),
  to: z.number(),
  /** Executions a second; without, as fast as they are taken. */
  rate: z.number().optional(),
  /** Packs all of them before the first is queued. */
  isPackedFirst: z.boolean(),
});
export type Feed = z.input<typeof feedSchema>;

/** Jobs that wait in the queue at most while it is filled without a rate. */
const DEPTH_MAX = 200;
/** A full queue lasts longer. Counting its jobs takes PostgreSQL about 0.7 ms, which is measured with the service. */
const DEPTH_POLL_MS = 500;
const BATCH = 20;

export interface RunningFeed {
  /** The next line; undefined at the end. */
  next(): Promise<string | undefined>;
  /** Waits for its end. */
  ended: Promise<void>;
  stop(): void;
}

export function startFeed(feed: Feed): RunningFeed {
  const child = Bun.spawn([process.execPath, fileURLToPath(import.meta.url)], {
    stdin: new Blob([JSON.stringify(feed)]),
    stdout: 'pipe',
    stderr: 'inherit',
  });
  let isStopped = false;
  const lines = linesOf(child.stdout);
  const ended = child.exited.then((code) => {
    if (code !== 0 && !isStopped) throw new Error('the feed ended with an error');
  });
  // The error is for the caller who waits for its end.
  ended.catch(() => {});
  return {
    next: async () => (await lines.next()).value ?? undefined,
    ended,
    stop: () => {
      isStopped = true;
      child.kill();
    },
  };
}

export async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string, undefined> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const bytes of stream) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  return undefined;
}

const say = (line: string): boolean => process.stdout.write(`${line}\n`);

function* packed({ source, from, to }: Feed): Generator<PackedJob> {
  let index = 0;
  for (const job of makeJobs(source)) {
    if (index >= to) return;
    if (index++ >= from) yield packJob(testRuns, job);
  }
}

async function run(feed: Feed): Promise<void> {
  const queues = await openQueues(
    { redisUrl: feed.redisUrl, databaseDirectUrl: undefined },
    feed.databaseUrl,
    () => {},
  );
  const producer = new Producer(queues, testRuns);
  const jobs: Iterable<PackedJob> = feed.isPackedFirst ? [...packed(feed)] : packed(feed);
  // The caller's clock starts at this line.
  say('first');
  const started = performance.now();
  const size = feed.rate === undefined ? BATCH : 1;
  let batch: PackedJob[] = [];
  let count = 0;
  const send = async (): Promise<void> => {
    if (feed.rate === undefined && !feed.isPackedFirst)
      while ((await producer.depth()) > DEPTH_MAX) await Bun.sleep(DEPTH_POLL_MS);
    await producer.addPacked(batch);
    batch = [];
    say(String(count * feed.source.chunk));
  };
  for (const job of jobs) {
    const due = feed.rate === undefined ? 0 : started + (count * feed.source.chunk * 1_000) / feed.rate;
    if (due > performance.now()) await Bun.sleep(due - performance.now());
    batch.push(job);
    count++;
    if (batch.length >= size) await send();
  }
  if (batch.length > 0) await send();
  await producer.close();
  await queues.close();
}

if (import.meta.main) {
  await run(feedSchema.parse(await Bun.stdin.json()));
  process.exit(0);
}
