/** Ingestion through queue, ledger and evaluation: how fast, what it takes in memory, how soon it is visible. */
import type { DataOptions } from './data.ts';
import { ownerOf, repositoryName } from './data.ts';
import type { RunningFeed } from './feed.ts';
import { type Memory, medianOf, memoryOf, SAMPLE_MS, watchMemory } from './memory.ts';
import type { BenchService } from './service.ts';

const TENTHS = 10;
/** A tenth that takes longer is told. */
const TOLD_MS = 10_000;

/**
 * Fills the service with jobs of the source up to `to`. Returns what it takes in memory while each tenth arrives: the sample
 * in the middle of those of each second.
 *
 * @param say told how many are queued, after each tenth that takes long
 */
export async function fill(
  service: BenchService,
  source: DataOptions,
  to: number,
  say: (what: string) => void,
): Promise<Memory[]> {
  const feed = service.feed(source, { from: 0, to, isPackedFirst: false });
  const samples = Array.from({ length: TENTHS }, (): Memory[] => []);
  let sampledAt = 0;
  let said = { tenth: 0, at: performance.now() };
  for (let line = await feed.next(); line !== undefined; line = await feed.next()) {
    const now = performance.now();
    if (now - sampledAt < SAMPLE_MS) continue;
    sampledAt = now;
    const tenth = Math.floor((TENTHS * Number(line)) / (to * source.chunk));
    if (tenth > said.tenth && now - said.at >= TOLD_MS) {
      say(`has queued ${line} of them`);
      said = { tenth, at: now };
    }
    samples[tenth]?.push(await memoryOf(service.pid));
  }
  await feed.ended;
  await service.untilEvaluated();
  return samples.map(medianOf);
}

export interface Ingested {
  /** Executions a second until all are stored and evaluated. */
  perSecond: number;
  /** Milliseconds after that until nothing is late any more. */
  lateMs: number;
  before: Memory;
  most: Memory;
}

/** Jobs of a source: from one on, and before another. */
export interface TimedJobs {
  source: DataOptions;
  from: number;
  to: number;
}

/** Jobs that are ready made, from the first in the queue to the last evaluated. */
export async function measureIngest(service: BenchService, { source, from, to }: TimedJobs): Promise<Ingested> {
  const feed = service.feed(source, { from, to, isPackedFirst: true });
  await feed.next();
  const before = await memoryOf(service.pid);
  const stopWatching = watchMemory(service.pid);
  const started = performance.now();
  await feed.ended;
  await service.untilEvaluated();
  const evaluated = performance.now();
  const most = await stopWatching();
  await service.untilNothingIsStale();
  const executions = Math.min(to * source.chunk, source.executions) - from * source.chunk;
  const perSecond = (executions * 1_000) / (evaluated - started);
  return { perSecond, lateMs: performance.now() - evaluated, before, most };
}

/** Longer than any measurement. */
const STEADY_SECONDS_MAX = 1_800;

/** Executions that keep arriving, at a steady rate, until they are stopped. */
export async function startSteadyFeed(service: BenchService, source: DataOptions, rate: number): Promise<RunningFeed> {
  const executions = Math.ceil(rate * STEADY_SECONDS_MAX);
  // Their times go up as they arrive.
  const now = Date.now() + STEADY_SECONDS_MAX * 1_000;
  const steady = { ...source, seed: source.seed + 1, executions, now, days: STEADY_SECONDS_MAX / 86_400 };
  const feed = service.feed(steady, {
    from: 0,
    to: Math.ceil(executions / source.chunk),
    isPackedFirst: false,
    rate,
  });
  await feed.next();
  // Its output must be read, or it stops.
  void (async () => {
    while ((await feed.next()) !== undefined);
  })();
  return feed;
}

const PROBE_MS = 200;
/** Times are up to that much too long. Asking more often would take more from what is measured. */
const POLL_MS = 100;
const VISIBLE_MS_MAX = 60_000;

/**
 * From sending reports, each with a new test, to the details of these tests: milliseconds. One that is not visible after a
 * minute counts as a minute, and ends the measurement.
 */
export async function measureVisibility(service: BenchService, seconds: number): Promise<number[]> {
  const sentAt = new Map<string, number>();
  const times: number[] = [];
  let isSending = true;
  // One question about all tests that are not visible yet, so that asking adds little load.
  const watching = (async () => {
    while (isSending || sentAt.size > 0) {
      for (const name of await visibleOf(service, [...sentAt.keys()])) {
        times.push(performance.now() - (sentAt.get(name) ?? Number.NaN));
        sentAt.delete(name);
      }
      const waiting = [...sentAt.values()].map((sent) => performance.now() - sent);
      if (Math.max(...waiting) > VISIBLE_MS_MAX) {
        isSending = false;
        return [...times, ...waiting.map(() => VISIBLE_MS_MAX)];
      }
      await Bun.sleep(POLL_MS);
    }
    return times;
  })();
  const until = performance.now() + seconds * 1_000;
  for (let index = 0; isSending && performance.now() < until; index++) {
    const name = `probe ${index} of ${process.pid}`;
    sentAt.set(name, performance.now());
    await upload(service, name, `probe-${process.pid}-${index}`);
    await Bun.sleep(PROBE_MS);
  }
  isSending = false;
  return watching;
}

const ADDRESS = `/v1/ci/${ownerOf}/repositories/${repositoryName(0)}`;

async function upload(service: BenchService, name: string, runId: string): Promise<void> {
  const query = `pipeline_name=CI&job_name=probe&branch=main&run_id=${runId}`;
  const response = await service.request(`${ADDRESS}/junit?${query}`, {
    method: 'POST',
    headers: { 'content-type': 'application/xml' },
    body: `<testsuite name="probe"><testcase name="${name}" time="0.1"/></testsuite>`,
  });
  if (response.status !== 202) throw new Error(`an upload was answered ${response.status}: ${await response.text()}`);
  await response.arrayBuffer();
}

/** Names whose details the service shows. */
async function visibleOf(service: BenchService, names: readonly string[]): Promise<string[]> {
  if (names.length === 0) return [];
  const query = names.map((name) => `test_name=${encodeURIComponent(name)}`).join('&');
  const response = await service.request(`${ADDRESS}/search/tests?per_page=100&${query}`);
  const { tests } = (await response.json()) as { tests: { test_id: string; test_name: string }[] };
  const details = tests.map(async ({ test_id, test_name }) => {
    const { ok } = await service.request(`${ADDRESS}/tests/${test_id}`);
    return ok ? [test_name] : [];
  });
  return (await Promise.all(details)).flat();
}
