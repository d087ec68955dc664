/**
 * The cost of an execution in small and in large uploads, from the socket to queryable: CPU seconds of the service with all
 * its processes. The same runs of 2,000 tests are sent whole and in parts of 40; beside them, small runs of 40 tests are
 * sent. The rounds alternate, because the speed of a shared machine changes.
 *
 * `bun tests/bench/small-uploads.ts [executions] [rounds] [connections]`; the queue is in PostgreSQL, or where REDIS_URL
 * says.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packedReport } from '../support/packed-report.ts';
import { processTree } from '../support/process-tree.ts';
import { ServiceProcess } from '../support/service-process.ts';
import { Machine } from './machine.ts';

const POLL_MS = 100;

const [executions = 80_000, rounds = 3, connections = 16] = process.argv.slice(2).map(Number);

const folder = mkdtempSync(join(tmpdir(), 'ci-insights-small-'));
const { REDIS_URL } = process.env;
const service = ServiceProcess.onFolder(folder, { REDIS_URL });
await service.start();
const pid = service.pid;
let runs = 0;

/** Parts of the service that spend the time. */
const SERVICE_PARTS = [
  ['API', /src\/api\/process/],
  ['parsers', /parsing\/process/],
  ['PostgreSQL', /postgres/],
  ['workers and ClickHouse', /./],
] as const;

/** CPU seconds of each part. */
function cpuSeconds(): number[] {
  const seconds = SERVICE_PARTS.map(() => 0);
  for (const { command, cpuSeconds } of processTree(pid)) {
    const part = SERVICE_PARTS.findIndex(([, pattern]) => pattern.test(command));
    seconds[part] = (seconds[part] ?? 0) + cpuSeconds;
  }
  return seconds;
}

interface Shape {
  name: string;
  /** Tests of a run. */
  tests: number;
  /** Tests in an upload. */
  part: number;
}

const WHOLE: Shape = { name: 'whole', tests: 2_000, part: 2_000 };
const PARTS: Shape = { name: 'parts', tests: 2_000, part: 40 };
const SMALL: Shape = { name: 'small', tests: 40, part: 40 };

/** CPU seconds per 1,000 executions, by part of the service. */
async function round({ name, tests, part }: Shape): Promise<number[]> {
  const bodies = Array.from({ length: tests / part }, (_, nth) => packedReport(part, 50, nth * part));
  const base = `/v1/ci/acme/repositories/${name}`;
  const firstRun = runs;
  const uploads = Math.ceil(executions / part);
  runs += Math.ceil(uploads / bodies.length);
  const due = Array.from({ length: uploads }, (_, nth) => nth);
  const before = cpuSeconds();
  let last = '';
  const send = async (): Promise<void> => {
    for (let nth = due.shift(); nth !== undefined; nth = due.shift()) {
      const run = firstRun + Math.floor(nth / bodies.length);
      const body = bodies[nth % bodies.length];
      const query = `pipeline_name=CI&job_name=unit&branch=main&run_id=${run}`;
      const response = await service.request(`${base}/junit?${query}`, {
        method: 'POST',
        headers: { 'content-encoding': 'gzip', 'content-type': 'application/xml' },
        body,
      });
      if (response.status === 503) {
        due.push(nth);
        await Bun.sleep(Number(response.headers.get('retry-after') ?? 1) * 1_000);
        continue;
      }
      if (response.status !== 202) throw new Error(`${response.status}: ${await response.text()}`);
      last = ((await response.json()) as { url: string }).url;
    }
  };
  await Promise.all(Array.from({ length: connections }, send));
  const isStored = async (): Promise<boolean> => {
    const text = await (await service.request('/metrics')).text();
    const depth = [
      ...text.matchAll(
        /^ci_insights_queue_jobs\{queue="(?:test-runs|large-test-runs|upload-bundles)",state="(?:waiting|active|delayed)"\} (\d+)/gm,
      ),
    ];
    return depth.length > 0 && depth.every(([, count]) => count === '0');
  };
  const receiptStored = async (): Promise<boolean> =>
    ((await (await service.request(last)).json()) as { status: string }).status === 'stored';
  while (!(await receiptStored())) await Bun.sleep(POLL_MS);
  // The gauges are sampled every few seconds.
  while (!(await isStored())) await Bun.sleep(500);
  return cpuSeconds().map((seconds, part) => ((seconds - (before[part] ?? 0)) / executions) * 1_000);
}

const sum = (parts: readonly number[]): number => parts.reduce((total, seconds) => total + seconds, 0);
const figure = (seconds: number): string => `${(seconds * 1_000).toFixed(0)} ms`;
const described = (seconds: readonly number[]): string =>
  `${figure(sum(seconds))} (${SERVICE_PARTS.map(([name], nth) => `${name} ${figure(seconds[nth] ?? 0)}`).join(', ')})`;
const median = (ratios: readonly number[]): string =>
  ratios.toSorted((a, b) => a - b)[ratios.length >> 1]?.toFixed(2) ?? '';

try {
  const machine = new Machine();
  // Programs are slow until they are warm.
  for (const shape of [WHOLE, PARTS, SMALL, PARTS, SMALL]) await round(shape);
  const ratios = { parts: [] as number[], small: [] as number[] };
  for (let i = 0; i < rounds; i++) {
    const [whole, parts, small] = [await round(WHOLE), await round(PARTS), await round(SMALL)];
    ratios.parts.push(sum(parts) / sum(whole));
    ratios.small.push(sum(small) / sum(whole));
    console.log(
      `CPU per 1,000 executions: whole runs ${described(whole)}, in parts ${described(parts)}, small runs ${described(small)} (${machine.described()})`,
    );
  }
  console.log(
    `median against whole runs: in parts ${median(ratios.parts)} times, small runs ${median(ratios.small)} times`,
  );
} finally {
  await service.stop();
  rmSync(folder, { recursive: true, force: true });
}
