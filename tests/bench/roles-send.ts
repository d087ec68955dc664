/**
 * Sends JUnit reports of many repositories at a steady rate to the API of a service, from a separate process, and follows some
 * of them until they are stored. Reports are made before the first is sent, so that sending costs little.
 *
 * One line of JSON for each thing that happens ({@link SentEvent}).
 */
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { atEnd } from '../support/at-end.ts';
import { randomFrom } from '../support/random.ts';
import { ownerOf, repositoryName, zipf } from './data.ts';
import { linesOf } from './feed.ts';

const requestSchema = z.object({
  /** Taken in turns. */
  origins: z.array(z.string()).min(1),
  token: z.string(),
  /** How many executions, to the end of a run. */
  executions: z.number(),
  /** Executions a second. */
  rate: z.number(),
  repositories: z.number(),
  /** Whether repositories send in turns, and not some more often than others. */
  isEachInTurn: z.boolean(),
  seed: z.number(),
});
export type SendRequest = z.infer<typeof requestSchema>;

/** Milliseconds; `at` since the first upload was due. */
const eventSchema = z.discriminatedUnion('kind', [
  /** An upload was answered 202, so long after it was due. */
  z.object({ kind: z.literal('taken'), at: z.number(), ms: z.number(), executions: z.number() }),
  /** It was refused with 503 or got no answer, and is sent again. */
  z.object({ kind: z.literal('refused'), at: z.number(), status: z.number() }),
  /** The question for a receipt was not answered, and is asked again. */
  z.object({ kind: z.literal('unread'), at: z.number(), status: z.number() }),
  /** Its receipt said that it is stored, so long after the 202. */
  z.object({ kind: z.literal('stored'), at: z.number(), ms: z.number() }),
]);
export type SentEvent = z.infer<typeof eventSchema>;

/** The CI jobs of a run, each with as many tests: 350 in a report on average. */
const JOBS = [
  { name: 'unit', tests: 1_000 },
  { name: 'integration', tests: 300 },
  { name: 'end to end', tests: 60 },
  { name: 'contracts', tests: 40 },
];
export const TESTS_OF_RUN = JOBS.reduce((sum, { tests }) => sum + tests, 0);
/** Different reports of each job. */
const VARIANTS = 24;
/** One in fifty tests fails now and then, the others hardly ever: as in data.ts. */
const UNRELIABLE = 50;
const [OFTEN, HARDLY] = [0.05, 0.0005];
/** How uneven repositories are: one of twice the rank has seven tenths of the runs. */
const SKEW = 0.5;
const PULL_REQUESTS = 0.4;
/** One upload in so many is followed: no divisor of the number of jobs, so that each job is among them. */
const FOLLOWED = 7;
/** Lags are up to that much too long, or up to a twentieth: asking all the time for what is late would make it later. */
const POLL_MS = 100;
const POLL_SHARE = 20;
const IN_FLIGHT_MAX = 256;
const FOLLOWED_MS_MAX = 300_000;

export async function* send(request: SendRequest): AsyncGenerator<SentEvent, undefined> {
  const child = Bun.spawn([process.execPath, fileURLToPath(import.meta.url)], {
    stdin: new Blob([JSON.stringify(request)]),
    stdout: 'pipe',
    stderr: 'inherit',
  });
  atEnd(async () => child.kill());
  try {
    for await (const line of linesOf(child.stdout)) yield eventSchema.parse(JSON.parse(line));
    if ((await child.exited) !== 0) throw new Error('the sender ended with an error');
  } finally {
    child.kill();
  }
}

const tell = (event: SentEvent): boolean => process.stdout.write(`${JSON.stringify(event)}\n`);

function reportOf(job: (typeof JOBS)[number], random: () => number): Uint8Array<ArrayBuffer> {
  const frames = '    at frame (src/thing.ts:1:1)\n'.repeat(12);
  const cases = Array.from({ length: job.tests }, (_, i) => {
    const isFailed = random() < (i % UNRELIABLE === 0 ? OFTEN : HARDLY);
    const failure = `<failure type="AssertionError" message="expected ${i % 9} to equal 2">Error\n${frames}</failure>`;
    return `<testcase classname="src/${job.name}/feature-${i % 97}.test.ts" name="does thing ${i}" time="${(random() * 2).toFixed(3)}">${isFailed ? failure : ''}</testcase>`;
  });
  return Bun.gzipSync(`<testsuites><testsuite name="${job.name}">${cases.join('')}</testsuite></testsuites>`);
}

interface Upload {
  path: string;
  body: Uint8Array<ArrayBuffer>;
  executions: number;
  isFollowed: boolean;
}

/** Without an end: the jobs of one run after the other. */
function* uploads({ repositories, seed, isEachInTurn }: SendRequest): Generator<Upload, never> {
  const random = randomFrom(seed);
  const reports = JOBS.map((job) => Array.from({ length: VARIANTS }, () => reportOf(job, random)));
  const pick = zipf(repositories, SKEW, random);
  for (let run = 0, nth = 0; ; run++) {
    const isPullRequest = !isEachInTurn && random() < PULL_REQUESTS;
    const pullRequest = 1 + (run % 5_000);
    const repository = repositoryName(isEachInTurn ? run % repositories : pick());
    const address = `/v1/ci/${ownerOf}/repositories/${repository}/junit`;
    const query = new URLSearchParams({
      pipeline_name: 'CI',
      run_id: `${seed}-${run}`,
      commit: (seed * 2 ** 32 + run).toString(16).padStart(40, '0'),
      branch: isPullRequest ? `feature-${pullRequest}` : 'main',
      ...(isPullRequest && { pull_request: String(pullRequest), base_ref: 'main' }),
    });
    for (const [i, { name, tests }] of JOBS.entries()) {
      const body = reports[i]?.[Math.floor(random() * VARIANTS)] as Uint8Array<ArrayBuffer>;
      const path = `${address}?${query}&job_name=${encodeURIComponent(name)}`;
      yield { path, body, executions: tests, isFollowed: nth++ % FOLLOWED === 0 };
    }
  }
}

async function run(request: SendRequest): Promise<void> {
  const { origins, token, executions: all, rate } = request;
  const due = uploads(request);
  let next = due.next().value;
  const started = performance.now();
  const since = (moment: number): number => Math.round(moment - started);
  const headers = { authorization: `Bearer ${token}` };
  let turn = 0;

  /** Until it is taken. Returns where its receipt is. */
  const sendOne = async ({ path, body, executions }: Upload, dueAt: number): Promise<string> => {
    for (;;) {
      const origin = origins[turn++ % origins.length] ?? '';
      const response = await fetch(origin + path, {
        method: 'POST',
        headers: { ...headers, 'content-encoding': 'gzip', 'content-type': 'application/xml' },
        body,
      }).catch(() => undefined);
      const now = performance.now();
      if (response?.status === 202) {
        tell({ kind: 'taken', at: since(dueAt), ms: now - dueAt, executions });
        return receiptAt.parse(await response.json()).url;
      }
      if (response && response.status !== 503) throw new Error(`${response.status}: ${await response.text()}`);
      tell({ kind: 'refused', at: since(now), status: response?.status ?? 0 });
      await response?.arrayBuffer();
      await Bun.sleep(Number(response?.headers.get('retry-after') ?? 1) * 1_000);
    }
  };
  const follow = async (url: string, takenAt: number): Promise<void> => {
    for (;;) {
      const response = await fetch(url, { headers }).catch(() => undefined);
      const ms = performance.now() - takenAt;
      if (!response?.ok) tell({ kind: 'unread', at: since(takenAt), status: response?.status ?? 0 });
      const status = response?.ok ? receiptStatus.parse(await response.json()).status : undefined;
      if (status === 'stored' || ms > FOLLOWED_MS_MAX) {
        tell({ kind: 'stored', at: since(takenAt), ms });
        return;
      }
      await Bun.sleep(Math.max(POLL_MS, ms / POLL_SHARE));
    }
  };

  const sending = new Set<Promise<void>>();
  const following = new Set<Promise<void>>();
  const begin = (all: Set<Promise<void>>, work: () => Promise<void>): void => {
    const one = work()
      .catch((error: unknown) => {
        console.error(error);
        process.exit(1);
      })
      .finally(() => all.delete(one));
    all.add(one);
  };
  // The last run is sent whole.
  for (let sent = 0; sent < all || sent % TESTS_OF_RUN !== 0; next = due.next().value) {
    const upload = next;
    const dueAt = started + (sent / rate) * 1_000;
    if (dueAt > performance.now()) await Bun.sleep(dueAt - performance.now());
    while (sending.size >= IN_FLIGHT_MAX) await Promise.race(sending);
    begin(sending, async () => {
      const url = await sendOne(upload, dueAt);
      const takenAt = performance.now();
      if (upload.isFollowed) begin(following, () => follow(url, takenAt));
    });
    sent += upload.executions;
  }
  await Promise.all(sending);
  await Promise.all(following);
}

const receiptAt = z.object({ url: z.string() });
const receiptStatus = z.object({ status: z.string() });

if (import.meta.main) {
  await run(requestSchema.parse(await Bun.stdin.json()));
  process.exit(0);
}
