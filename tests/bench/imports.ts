/**
 * How fast the history of a repository is imported from a local server that answers as a host does, and what live uploads and
 * reads notice of it: `bun run bench --imports`.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { DEFAULT_HOST, repositoryIdOf } from '../../src/domain/identity.ts';
import { partitionOf } from '../../src/postgres/partitions.ts';
import { atEnd } from '../support/at-end.ts';
import { packedReport } from '../support/packed-report.ts';
import { processTree } from '../support/process-tree.ts';
import { latencyOf } from './quantile.ts';
import { type Figure, figure } from './report.ts';
import { BenchService } from './service.ts';

const CLIENT = resolve(import.meta.dir, '../../src/client/package-main.ts');
const HOST = resolve(import.meta.dir, 'import-host.ts');
/** The credentials that the servers of `tests/support` ask for. */
const HOSTS = {
  github: { GITHUB_TOKEN: 'gh-token' },
  gitlab: { GITLAB_TOKEN: 'glpat-of-the-test' },
} as const;
type Host = keyof typeof HOSTS;

/** With a folder in it, the command is profiled. */
const { IMPORT_PROFILE } = process.env;
const PROFILE = IMPORT_PROFILE === undefined ? [] : ['--cpu-prof', '--cpu-prof-dir', IMPORT_PROFILE];

const TESTS = 500;
/** Days, legs and attempts of what `pastOf` makes: reports for each run of a day. */
const REPORTS_OF_RUN = 89 * 2.3;
/** A million in five minutes. */
const PER_SECOND_MIN = 3_333;
const LIVE_TESTS = 40;
const LIVE_EVERY_MS = 250;
const LIVE_ALONE_MS = 20_000;
const OWNER = 'bench';

export async function measureImports(
  folder: string,
  executions: number,
  say: (what: string) => void,
): Promise<Figure[]> {
  const service = new BenchService(folder);
  await service.start();
  const figures: Figure[] = [];
  try {
    const alone = liveBeside('github', false);
    await liveDuring(service, alone, Bun.sleep(2_000));
    say('live, alone');
    figures.push(...(await liveDuring(service, alone, Bun.sleep(LIVE_ALONE_MS))).figures('alone'));
    for (const host of Object.keys(HOSTS) as Host[]) {
      say(`import from ${host}`);
      const before = cpuSeconds(service);
      const imported = importFrom(host, service, Math.max(1, Math.round(executions / TESTS / REPORTS_OF_RUN)));
      const [live, sharing] = await Promise.all([
        liveDuring(service, liveBeside(host, false), imported),
        liveDuring(service, liveBeside(host, true), imported),
      ]);
      const { accepted, seconds, clientCpuSeconds } = await imported;
      const cpu = cpuSeconds(service) - before + clientCpuSeconds;
      say(`${accepted} executions in ${Math.round(seconds)} s`);
      figures.push(
        figure(`import.${host}.rate`, accepted / seconds, '/s', { atLeast: PER_SECOND_MIN }),
        figure(`import.${host}.cpu_per_million`, (cpu / accepted) * 1_000_000, 's'),
        ...live.figures(host),
        ...sharing.figures(`${host}.same_partition`).filter(({ name }) => name.startsWith('live.stored.')),
      );
    }
  } finally {
    await service.stop();
  }
  return figures;
}

/** A live repository whose partition is that of the one that is imported, or another: of 64, one is the same by chance. */
function liveBeside(host: Host, isSharing: boolean): string {
  const partition = (name: string) => partitionOf(repositoryIdOf(DEFAULT_HOST, OWNER, name));
  for (let i = 0; ; i++) if ((partition(`live-${i}`) === partition(host)) === isSharing) return `live-${i}`;
}

/** Processor time of all processes of the service: the same on a machine that does much else. */
const cpuSeconds = ({ pid }: BenchService): number => processTree(pid).reduce((sum, one) => sum + one.cpuSeconds, 0);

const receiptSchema = z.object({ is_complete: z.literal(true), executions: z.object({ accepted: z.number() }) });

/** Until the command has seen that everything is stored. */
async function importFrom(host: Host, service: BenchService, runsPerDay: number) {
  const path = `${OWNER}/${host}`;
  const server = Bun.spawn([process.execPath, HOST, host, path, String(runsPerDay), String(TESTS)], {
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'inherit',
  });
  atEnd(async () => void server.kill());
  const { url } = z.object({ url: z.string() }).parse(JSON.parse(await lineOf(server.stdout)));
  const state = mkdtempSync(join(tmpdir(), 'ci-insights-import-'));
  const started = performance.now();
  const args = ['import', host, path, '--since', '90d', '--api-url', url, '--state', join(state, 'state'), '--json'];
  const child = Bun.spawn([process.execPath, ...PROFILE, CLIENT, ...args], {
    env: {
      PATH: process.env.PATH,
      CI_INSIGHTS_URL: service.origin,
      CI_INSIGHTS_TOKEN: service.authorization.replace('Bearer ', ''),
      ...HOSTS[host],
    },
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  const seconds = (performance.now() - started) / 1_000;
  server.stdin.end();
  rmSync(state, { recursive: true, force: true });
  if (code !== 0) throw new Error(`the import ended with ${code}: ${err}`);
  const clientCpuSeconds = Number(child.resourceUsage()?.cpuTime.total ?? 0) / 1_000_000;
  return { accepted: receiptSchema.parse(JSON.parse(out)).executions.accepted, seconds, clientCpuSeconds };
}

/** The first line of a stream. */
async function lineOf(stream: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<string> {
  let text = '';
  const decoder = new TextDecoder();
  for await (const part of stream) {
    text += decoder.decode(part, { stream: true });
    if (text.includes('\n')) break;
  }
  return text;
}

const foundSchema = z.object({ tests: z.array(z.object({ test_id: z.string() })) });

const receiptOf = async (service: BenchService, url: string): Promise<string> =>
  z.object({ status: z.string() }).parse(await (await service.request(url)).json()).status;

/** A small upload to a repository and a read of one of its tests, again and again, until something has ended. */
async function liveDuring(service: BenchService, name: string, until: Promise<unknown>) {
  const uploads: number[] = [];
  const stored: number[] = [];
  const reads: number[] = [];
  let isOver = false;
  const over = (): void => {
    isOver = true;
  };
  until.then(over, over);
  const base = `/v1/ci/${OWNER}/repositories/${name}`;
  const started = performance.now();
  const each = async (act: (nth: number) => Promise<void>): Promise<void> => {
    for (let nth = 0; !isOver; nth++) {
      const next = performance.now() + LIVE_EVERY_MS;
      await act(nth);
      await Bun.sleep(Math.max(0, next - performance.now()));
    }
  };
  const upload = async (nth: number): Promise<void> => {
    const query = new URLSearchParams({
      pipeline_name: 'CI',
      job_name: 'unit',
      branch: 'main',
      default_branch: 'main',
    });
    query.set('run_id', `${Date.now()}-${nth}`);
    const sentAt = performance.now();
    const answer = await service.request(`${base}/junit?${query}`, {
      method: 'POST',
      headers: { 'content-encoding': 'gzip', 'content-type': 'application/xml' },
      body: packedReport(LIVE_TESTS, 50),
    });
    if (answer.status !== 202) throw new Error(`${answer.status}: ${await answer.text()}`);
    uploads.push(performance.now() - sentAt);
    const { url } = z.object({ url: z.string() }).parse(await answer.json());
    while ((await receiptOf(service, url)) !== 'stored') await Bun.sleep(20);
    stored.push(performance.now() - sentAt);
  };
  let testId = '';
  const read = async (nth: number): Promise<void> => {
    const isSearch = testId === '' || nth % 2 === 0;
    const sentAt = performance.now();
    const answer = await service.request(
      `${base}/${isSearch ? 'search/tests?test_name=*&per_page=10' : `tests/${testId}`}`,
    );
    const body: unknown = await answer.json();
    if (answer.status >= 500) throw new Error(`a read was answered with ${answer.status}`);
    reads.push(performance.now() - sentAt);
    if (isSearch) testId = foundSchema.parse(body).tests[0]?.test_id ?? '';
  };
  await Promise.all([each(upload), each(read)]);
  const seconds = (performance.now() - started) / 1_000;
  return {
    figures: (beside: string): Figure[] => [
      ...[['upload', uploads] as const, ['stored', stored] as const, ['read', reads] as const].flatMap(([what, ms]) => [
        figure(`live.${what}.${beside}.median`, latencyOf(ms, seconds).median, 'ms'),
        figure(`live.${what}.${beside}.p99`, latencyOf(ms, seconds).p99, 'ms'),
      ]),
    ],
  };
}
