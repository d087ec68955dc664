/**
 * A queue that was filled while no worker ran, and a service that then drains it: what the service takes meanwhile, what
 * others feel of it, and what it says about how long it will take.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { v7 as uuid7 } from 'uuid';
import { startEmbeddedPostgres } from '../../src/postgres/embedded.ts';
import { migratePostgresQueues, openPostgresQueues, openRedisQueues } from '../../src/queue/backend.ts';
import { Producers } from '../../src/queue/producer.ts';
import { testRuns } from '../../src/queue/test-runs.ts';
import { type Memory, memoryOf, totalOf } from '../bench/memory.ts';
import { makeJob } from './jobs.ts';
import { packedReport } from './packed-report.ts';
import { CLI, ServiceProcess } from './service-process.ts';
import { storedReceipt } from './stored-receipt.ts';
import { type Felt, felt } from './uploaders.ts';

export interface Backlog {
  /** Each is a separate job, as other producers send them. */
  chunks: number;
  /** Number in each chunk. */
  executions: number;
  redisUrl?: string | undefined;
  secondsMax: number;
}

export interface Sample {
  /** Since the service was ready. */
  seconds: number;
  /** Chunks that are not done. */
  waiting: number;
  /** Value of the metric, which is read every five seconds; undefined: nothing yet. */
  drainSeconds: number | undefined;
  /** Bytes of each kind of process. */
  memory: Memory;
}

export interface BacklogFigures {
  fillSeconds: number;
  /** Until every chunk was done, and until everything was evaluated. */
  drainSeconds: number;
  evaluatedSeconds: number;
  chunksPerSecond: number;
  executionsPerSecond: number;
  stored: number;
  samples: Sample[];
  /** Sentences of `doctor` about the queue, with the seconds that the rest then took. */
  doctor: { said: string; took: number }[];
  /** Each reading of the metric divided by what the rest took: how many, and their quartiles. */
  estimate: { readings: number; low: number; median: number; high: number };
  liveness: Felt;
  quarantines: Felt;
  reads: Felt;
}

const REPOSITORIES = 20;
const RUNS_OF_TESTS = 50;
const ADDED_AT_ONCE = 500;
const SAMPLE_MS = 1_000;
const DOCTOR_MS = 15_000;
const CALM = '/v1/ci/calm/repositories/shop';

export async function backlog({ chunks, executions, redisUrl, secondsMax }: Backlog): Promise<BacklogFigures> {
  const folder = mkdtempSync(join(tmpdir(), 'ci-insights-backlog-'));
  const service = ServiceProcess.onFolder(folder, { REDIS_URL: redisUrl });
  try {
    await service.start();
    await prepare(service);
    await service.stop();
    const fillSeconds = await timed(() => fill(folder, { chunks, executions, redisUrl }));
    await service.start();
    const drained = await drain(service, { folder, redisUrl, chunks, secondsMax });
    const stored = await metric(service, 'ci_insights_executions_stored_total');
    return {
      fillSeconds,
      chunksPerSecond: chunks / drained.drainSeconds,
      executionsPerSecond: (chunks * executions) / drained.drainSeconds,
      stored,
      ...drained,
    };
  } finally {
    await service.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const startedAt = performance.now();
  await work();
  return (performance.now() - startedAt) / 1_000;
};

/** Something to read meanwhile. */
async function prepare(service: ServiceProcess): Promise<void> {
  const headers = { 'content-encoding': 'gzip', 'content-type': 'application/xml' };
  const path = `${CALM}/junit?pipeline_name=CI&job_name=unit&branch=main&run_id=1`;
  const response = await service.request(path, {
    method: 'POST',
    headers,
    body: packedReport(500, 50),
  });
  const { url } = (await response.json()) as { url: string };
  await storedReceipt(() => service.request(url));
}

async function fill(folder: string, { chunks, executions, redisUrl }: Omit<Backlog, 'secondsMax'>): Promise<void> {
  const postgres = redisUrl ? undefined : await startEmbeddedPostgres(folder);
  if (postgres) await migratePostgresQueues(postgres.url);
  const queues = await (redisUrl
    ? openRedisQueues(redisUrl, () => {})
    : openPostgresQueues(postgres?.url ?? '', () => {}));
  const producers = new Producers(queues);
  try {
    // The payload differs only in its names: making 200,000 of them would take longer than queueing them.
    const templates = Array.from({ length: RUNS_OF_TESTS }, (_, part) =>
      makeJob({
        repository: { owner: 'backlog', name: 'shop' },
        executions: Array.from({ length: executions }, (_, i) => ({
          name: `part ${part} does thing ${i} of the cart`,
        })),
        receivedAt: Date.now(),
      }),
    );
    for (let at = 0; at < chunks; at += ADDED_AT_ONCE) {
      const jobs = Array.from({ length: Math.min(ADDED_AT_ONCE, chunks - at) }, (_, i) => {
        const template = templates[(at + i) % RUNS_OF_TESTS];
        if (!template) throw new Error('there is no template');
        return {
          ...template,
          upload_id: uuid7(),
          repository: { ...template.repository, name: `shop-${(at + i) % REPOSITORIES}` },
          run: { ...template.run, run_id: String(at + i), commit: `c${at + i}` },
          sources: [`chunk ${at + i}`],
        };
      });
      await producers.of(testRuns).addMany(jobs);
    }
  } finally {
    await producers.close();
    await queues.close();
    await postgres?.stop();
  }
}

interface Draining {
  folder: string;
  redisUrl: string | undefined;
  chunks: number;
  secondsMax: number;
}

type Drained = Omit<BacklogFigures, 'fillSeconds' | 'chunksPerSecond' | 'executionsPerSecond' | 'stored'>;

async function drain(service: ServiceProcess, { folder, redisUrl, chunks, secondsMax }: Draining): Promise<Drained> {
  const startedAt = performance.now();
  const elapsed = (): number => (performance.now() - startedAt) / 1_000;
  let isDraining = true;
  const readers = Promise.all([
    felt(service, '/healthz/live', 10, () => isDraining),
    felt(service, `${CALM}/quarantines?branch=main`, 10, () => isDraining),
    felt(service, `${CALM}/search/tests?test_name=*thing 7*`, 2, () => isDraining),
  ]);
  const asked: { at: number; said: string }[] = [];
  const doctors = (async () => {
    for (; isDraining; await Bun.sleep(DOCTOR_MS)) {
      const said = await doctorOf(folder, redisUrl);
      if (said !== undefined) asked.push({ at: elapsed(), said });
    }
  })();
  const samples: Sample[] = [];
  let isEmpty = false;
  while (!isEmpty && elapsed() < secondsMax) {
    const seconds = elapsed();
    const text = await (await service.request('/metrics')).text();
    const waiting = chunks - (figureOf(text, 'ci_insights_jobs_total{queue="test-runs",outcome="done"}') ?? 0);
    const said = figureOf(text, 'ci_insights_queue_drain_seconds{queue="test-runs"}');
    samples.push({ seconds, waiting, drainSeconds: said, memory: await memoryOf(service.pid) });
    isEmpty = waiting === 0;
    if (!isEmpty) await Bun.sleep(SAMPLE_MS);
  }
  if (!isEmpty) throw new Error(`of ${chunks} chunks, ${samples.at(-1)?.waiting} wait after ${secondsMax} s`);
  const drainSeconds = samples.at(-1)?.seconds ?? 0;
  const unfinished = async (): Promise<number> =>
    (await metric(service, 'ci_insights_blocks_unfinished{state="unstored"}')) +
    (await metric(service, 'ci_insights_blocks_unfinished{state="unevaluated"}'));
  while ((await unfinished()) > 0 && elapsed() < secondsMax) await Bun.sleep(SAMPLE_MS);
  const evaluatedSeconds = elapsed();
  isDraining = false;
  const [liveness, quarantines, reads] = await readers;
  await doctors;
  const ratios = samples
    .filter(({ drainSeconds: said }, i) => said !== samples[i - 1]?.drainSeconds)
    .filter(({ drainSeconds: said = Number.POSITIVE_INFINITY, waiting }) => waiting > 0 && said < 1e9)
    .map(({ seconds, drainSeconds: said = 0 }) => said / Math.max(drainSeconds - seconds, 1))
    .sort((a, b) => a - b);
  const at = (share: number): number => ratios[Math.floor(share * (ratios.length - 1))] ?? Number.NaN;
  return {
    drainSeconds,
    evaluatedSeconds,
    samples,
    doctor: asked
      .filter((one) => one.at < drainSeconds)
      .map((one) => ({ said: one.said, took: drainSeconds - one.at })),
    estimate: { readings: ratios.length, low: at(0.25), median: at(0.5), high: at(0.75) },
    liveness,
    quarantines,
    reads,
  };
}

function figureOf(text: string, name: string): number | undefined {
  const line = text.split('\n').find((candidate) => candidate.startsWith(`${name} `));
  return line === undefined ? undefined : Number(line.slice(name.length + 1).replace('+Inf', 'Infinity'));
}

const metric = async (service: ServiceProcess, name: string): Promise<number> =>
  figureOf(await (await service.request('/metrics')).text(), name) ?? 0;

/** The doctor's words about the queue. */
async function doctorOf(folder: string, redisUrl: string | undefined): Promise<string | undefined> {
  const { PATH = '', HOME = '' } = process.env;
  const env = { PATH, HOME, DATA_DIR: folder, ...(redisUrl && { REDIS_URL: redisUrl }) };
  const child = Bun.spawn([process.execPath, CLI, 'doctor', '--json'], { env, stdout: 'pipe', stderr: 'ignore' });
  const { findings } = JSON.parse(await new Response(child.stdout).text()) as {
    findings: { check: string; message: string }[];
  };
  return findings.find(({ check }) => check === 'Queue test-runs')?.message;
}

/** The most memory in each third of the time that the backlog took, in MiB; the first samples see the service grow warm. */
export function memoryOverTime(samples: readonly Sample[]): number[] {
  const third = Math.ceil(samples.length / 3);
  return [0, 1, 2].map((part) => {
    const own = samples.slice(part * third, (part + 1) * third).map(({ memory }) => totalOf(memory));
    return Math.round(Math.max(0, ...own) / 1024 ** 2);
  });
}
