/** Load on a running service: uploaders that send and retry, while others read. */
import { z } from 'zod';
import { type ProcessKind, totalOf, watchMemory } from '../bench/memory.ts';
import { packedReport } from './packed-report.ts';
import type { ServiceProcess } from './service-process.ts';

export interface Overload {
  uploaders: number;
  /** Tests of each report. */
  tests: number;
  /** How long uploaders begin new reports. */
  seconds: number;
  /** How long to wait for the rest to be stored. */
  drainSecondsMax: number;
}

export interface Felt {
  requests: number;
  failed: number;
  p50: number;
  p99: number;
  max: number;
}

export interface OverloadFigures {
  accepted: number;
  refused: number;
  /** Refusals without Retry-After, or with another status than 503. */
  refusedWrongly: number;
  /** Seconds until a report was accepted, with all its retries. */
  acceptedAfterSeconds: { p50: number; p99: number };
  /** In milliseconds. */
  quarantines: Felt;
  liveness: Felt;
  reads: Felt;
  /** Memory of the service, with PostgreSQL, when it took most: together, and each kind of its processes. */
  mebibytes: { together: number } & Partial<Record<ProcessKind, number>>;
  /** From the last acceptance until every accepted report was stored. */
  drainSeconds: number;
  /** Accepted reports whose receipts did not say in the end that all their tests are stored. */
  notStored: number;
  /** Executions of a test that is in every report: counted by the service, less the accepted reports. */
  countedTooMany: number;
}

const receiptSchema = z.object({
  status: z.string(),
  accepted: z.number().nullable(),
  duplicate: z.number().nullable(),
});
const foundSchema = z.object({ tests: z.array(z.object({ metrics: z.object({ executions: z.number() }) })) });

const READS_PER_SECOND = { quarantines: 20, liveness: 20, reads: 4 };
/** A client that waits longer than this for a list has given up. */
const READ_MS_MAX = 30_000;
const RECEIPTS_AT_ONCE = 16;
const REPOSITORIES = 10;

const quantile = (values: readonly number[], share: number): number => {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
};

export async function overload(
  service: ServiceProcess,
  { uploaders, tests, seconds, drainSecondsMax }: Overload,
): Promise<OverloadFigures> {
  const body = packedReport(tests, 100);
  const base = (index: number): string => `/v1/ci/acme/repositories/shop-${index % REPOSITORIES}`;
  const report = (path: string, run: number): Promise<Response> =>
    service.request(`${path}/junit?pipeline_name=CI&job_name=unit&branch=main&run_id=${run}`, {
      method: 'POST',
      headers: { 'content-encoding': 'gzip', 'content-type': 'application/xml' },
      body,
    });
  const calm = '/v1/ci/calm/repositories/shop';
  await testsStored(service, Number.POSITIVE_INFINITY, ((await (await report(calm, 0)).json()) as { url: string }).url);

  let isLoaded = true;
  const stopWatching = watchMemory(service.pid);
  const readers = Promise.all([
    felt(service, `${calm}/quarantines?branch=main`, READS_PER_SECOND.quarantines, () => isLoaded),
    felt(service, '/healthz/live', READS_PER_SECOND.liveness, () => isLoaded),
    felt(service, `${calm}/search/tests?test_name=*thing 7*`, READS_PER_SECOND.reads, () => isLoaded),
  ]);

  const receipts: string[] = [];
  const waits: number[] = [];
  let refused = 0;
  let refusedWrongly = 0;
  let run = 0;
  const until = performance.now() + seconds * 1_000;
  const uploader = async (index: number): Promise<void> => {
    while (performance.now() < until) {
      const startedAt = performance.now();
      const id = ++run;
      for (;;) {
        const response = await report(base(index), id).catch(() => undefined);
        if (response?.status === 202) {
          receipts.push(((await response.json()) as { url: string }).url);
          break;
        }
        refused++;
        const after = response?.headers.get('retry-after');
        if (response?.status !== 503 || !after) refusedWrongly++;
        await response?.text();
        await Bun.sleep(Number(after ?? 1) * 1_000);
      }
      waits.push((performance.now() - startedAt) / 1_000);
    }
  };
  await Promise.all(Array.from({ length: uploaders }, (_, i) => uploader(i)));
  isLoaded = false;
  const [quarantines, liveness, reads] = await readers;
  const drainFrom = performance.now();
  let notStored = 0;
  const left = [...receipts];
  const check = async (): Promise<void> => {
    for (let url = left.pop(); url; url = left.pop())
      if ((await testsStored(service, drainFrom + drainSecondsMax * 1_000, url)) !== tests) notStored++;
  };
  await Promise.all(Array.from({ length: RECEIPTS_AT_ONCE }, check));
  const drainSeconds = (performance.now() - drainFrom) / 1_000;
  const bases = Array.from({ length: Math.min(REPOSITORIES, uploaders) }, (_, i) => base(i));
  const counted = await Promise.all(bases.map((path) => executionsOf(service, path, 'does thing 7 of the cart')));
  const most = await stopWatching();
  const mebibytes = (bytes: number): number => Math.round(bytes / 1024 ** 2);
  return {
    accepted: receipts.length,
    refused,
    refusedWrongly,
    acceptedAfterSeconds: { p50: quantile(waits, 0.5), p99: quantile(waits, 0.99) },
    quarantines,
    liveness,
    reads,
    mebibytes: {
      together: mebibytes(totalOf(most)),
      ...Object.fromEntries(Object.entries(most).map(([kind, bytes]) => [kind, mebibytes(bytes)])),
    },
    drainSeconds,
    notStored,
    countedTooMany: counted.reduce((sum, executions) => sum + executions, 0) - receipts.length,
  };
}

/** How long an address takes to answer, asked at an even pace whatever the answers take. */
export async function felt(
  service: ServiceProcess,
  path: string,
  perSecond: number,
  isLoaded: () => boolean,
): Promise<Felt> {
  const times: number[] = [];
  let failed = 0;
  const asked: Promise<void>[] = [];
  const ask = async (): Promise<void> => {
    const startedAt = performance.now();
    try {
      const response = await service.request(path, { signal: AbortSignal.timeout(READ_MS_MAX) });
      await response.text();
      if (response.status !== 200) failed++;
    } catch {
      failed++;
    }
    times.push(performance.now() - startedAt);
  };
  while (isLoaded()) {
    asked.push(ask());
    await Bun.sleep(1_000 / perSecond);
  }
  await Promise.all(asked);
  const at = (share: number): number => Math.round(quantile(times, share) * 10) / 10;
  return { requests: times.length, failed, p50: at(0.5), p99: at(0.99), max: at(1) };
}

/**
 * Waits until the upload is stored; of how many tests its receipt says that they are. Duplicates are among them: a client
 * that was told to come back may find that its report had been queued after all.
 */
async function testsStored(service: ServiceProcess, until: number, url: string): Promise<number> {
  do {
    const receipt = receiptSchema.parse(await (await service.request(url)).json());
    if (receipt.status === 'stored') return (receipt.accepted ?? 0) + (receipt.duplicate ?? 0);
    if (receipt.status === 'failed') return 0;
    await Bun.sleep(200);
  } while (performance.now() < until);
  return 0;
}

async function executionsOf(service: ServiceProcess, base: string, test: string): Promise<number> {
  const response = await service.request(`${base}/search/tests?test_name=${encodeURIComponent(`*${test}`)}`);
  const { tests } = foundSchema.parse(await response.json());
  return tests.reduce((sum, { metrics }) => sum + metrics.executions, 0);
}
