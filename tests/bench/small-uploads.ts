/**
 * What an execution costs in small and in large uploads, from the socket to queryable: CPU seconds of the service with all its
 * processes. The rounds alternate, because the speed of a shared machine changes.
 *
 * `bun tests/bench/small-uploads.ts [executions] [rounds]`; the queue is in PostgreSQL, or where REDIS_URL says.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packedReport } from '../support/packed-report.ts';
import { processTree } from '../support/process-tree.ts';
import { ServiceProcess } from '../support/service-process.ts';

const CONNECTIONS = 16;
const POLL_MS = 100;

const [executions = 80_000, rounds = 3] = process.argv.slice(2).map(Number);

const folder = mkdtempSync(join(tmpdir(), 'ci-insights-small-'));
const { REDIS_URL } = process.env;
const service = ServiceProcess.onFolder(folder, { REDIS_URL });
await service.start();
const pid = service.pid;
let run = 0;

/** What spends the time: the parts of the service. */
const PARTS = [
  ['API', /src\/api\/process/],
  ['parsers', /parsing\/process/],
  ['PostgreSQL', /postgres/],
  ['workers and ClickHouse', /./],
] as const;

/** CPU seconds of each part. */
function cpuSeconds(): number[] {
  const seconds = PARTS.map(() => 0);
  for (const { command, cpuSeconds } of processTree(pid)) {
    const part = PARTS.findIndex(([, pattern]) => pattern.test(command));
    seconds[part] = (seconds[part] ?? 0) + cpuSeconds;
  }
  return seconds;
}

/** CPU seconds per 1,000 executions, by part. */
async function round(tests: number): Promise<number[]> {
  const body = packedReport(tests, 50);
  const base = `/v1/ci/acme/repositories/size-${tests}`;
  let left = Math.ceil(executions / tests);
  const before = cpuSeconds();
  let last = '';
  const send = async (): Promise<void> => {
    while (left-- > 0) {
      const query = `pipeline_name=CI&job_name=unit&branch=main&run_id=${++run}`;
      const response = await service.request(`${base}/junit?${query}`, {
        method: 'POST',
        headers: { 'content-encoding': 'gzip', 'content-type': 'application/xml' },
        body,
      });
      if (response.status === 503) {
        left++;
        await Bun.sleep(Number(response.headers.get('retry-after') ?? 1) * 1_000);
        continue;
      }
      if (response.status !== 202) throw new Error(`${response.status}: ${await response.text()}`);
      last = ((await response.json()) as { url: string }).url;
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, send));
  const isStored = async (): Promise<boolean> => {
    const text = await (await service.request('/metrics')).text();
    const depth = [
      ...text.matchAll(
        /^ci_insights_queue_jobs\{queue="(?:test-runs|upload-bundles)",state="(?:waiting|active|delayed)"\} (\d+)/gm,
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

try {
  // Programs are slow until they are warm.
  for (const tests of [2_000, 40, 40]) await round(tests);
  const ratios: number[] = [];
  for (let i = 0; i < rounds; i++) {
    const large = await round(2_000);
    const small = await round(40);
    const figure = (seconds: number): string => `${(seconds * 1_000).toFixed(0)} ms`;
    const sum = (parts: readonly number[]): number => parts.reduce((total, seconds) => total + seconds, 0);
    const both = PARTS.map(([name], part) => `${name} ${figure(large[part] ?? 0)} and ${figure(small[part] ?? 0)}`);
    ratios.push(sum(small) / sum(large));
    console.log(
      `CPU per 1,000 executions: in uploads of 2,000 ${figure(sum(large))}, of 40 ${figure(sum(small))}: ` +
        `${(sum(small) / sum(large)).toFixed(2)} times (${both.join(', ')})`,
    );
  }
  ratios.sort((a, b) => a - b);
  console.log(`median: ${ratios[Math.floor(ratios.length / 2)]?.toFixed(2)} times`);
} finally {
  await service.stop();
  rmSync(folder, { recursive: true, force: true });
}
