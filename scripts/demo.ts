/**
 * `npm run demo`: the service on a temporary folder, with 90 days of a made-up repository. It prints a link that signs
 * in, once. Ctrl-C ends it and removes the folder.
 */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { readConfig } from '../src/config.ts';
import { openPostgresDeps, type PostgresDeps } from '../src/deps.ts';
import { createLogger } from '../src/observability/log.ts';
import { openQueues } from '../src/queue/open.ts';
import { prEvents } from '../src/queue/pr-events.ts';
import { Producer } from '../src/queue/producer.ts';
import { testRuns } from '../src/queue/test-runs.ts';
import { jobOf, LIVELY, LIVELY_WORLD, pullRequestsOf } from '../tests/simulation/lively.ts';
import { makeWorld } from '../tests/simulation/world.ts';

const BATCH_JOBS = 40;
const EVENTFUL_PULL_REQUESTS = 30;
const CLI = resolve(import.meta.dir, '../src/cli.ts');

if (import.meta.main) await demo();

async function demo(): Promise<void> {
  const memory = '/dev/shm';
  const folder = mkdtempSync(join(existsSync(memory) ? memory : tmpdir(), 'ci-insights-demo-'));
  const environment = { ...process.env, DATA_DIR: folder, PORT: process.env.PORT ?? '3000', LOG_LEVEL: 'error' };
  const child = Bun.spawn([process.execPath, CLI, 'serve'], { env: environment, stdout: 'pipe', stderr: 'inherit' });
  let isStopping = false;
  const stop = async (): Promise<void> => {
    if (isStopping) return;
    isStopping = true;
    child.kill('SIGTERM');
    await child.exited;
    rmSync(folder, { recursive: true, force: true });
    process.exit(0);
  };
  process.on('SIGINT', () => void stop());
  process.on('SIGTERM', () => void stop());
  const origin = await originOf(child.stdout);
  if (origin === undefined) {
    rmSync(folder, { recursive: true, force: true });
    process.exit(1);
  }
  const startedAt = performance.now();
  console.log(`ci-insights runs at ${origin}. Making up ${LIVELY_WORLD.days} days of ${LIVELY.owner}/${LIVELY.name} …`);
  const deps = await openPostgresDeps(readConfig(environment), { log: createLogger('error') });
  try {
    const executions = await fill(deps);
    const { pass } = await deps.sessions.offer({
      keyId: null,
      actor: 'demo',
      scope: 'admin',
      owner: null,
      repositories: null,
    });
    const seconds = Math.round((performance.now() - startedAt) / 1_000);
    console.log(
      `${executions.toLocaleString('en')} executions in ${seconds} s. This link signs in, once, within 10 minutes:\n`,
    );
    console.log(`  ${origin}/app/sign-in#${pass}\n`);
    console.log('Ctrl-C ends the demo and removes its data.');
  } finally {
    await deps.close();
  }
  await child.exited;
  await stop();
}

/** The address that the service reports when it is ready; undefined if it ended before. */
async function originOf(output: ReadableStream<Uint8Array>): Promise<string | undefined> {
  const decoder = new TextDecoder();
  let written = '';
  for await (const bytes of output) {
    written += decoder.decode(bytes, { stream: true });
    const origin = /ready at (http:\/\/[^\s/]+)/.exec(written)?.[1];
    if (origin !== undefined) return origin;
  }
  return undefined;
}

/** Puts the world into the queue, waits until it is stored and judged, and returns how many executions it has. */
async function fill(deps: PostgresDeps): Promise<number> {
  const now = Date.now();
  const world = makeWorld(LIVELY_WORLD);
  // Its last day ends today.
  const shift = now - world.end;
  const repository = await deps.repositories.record({ host: 'github.com', ...LIVELY });
  await deps.repositories.set(repository, { autoQuarantine: 'flaky+broken' }, 'demo');
  const queues = await openQueues(deps.config, deps.databaseUrl, () => {});
  try {
    const results = new Producer(queues, testRuns);
    const commits = new Set<string>();
    let executions = 0;
    let jobs = [];
    for (const run of world.runs()) {
      if (run.at + shift > now) break;
      if (run.isDefaultBranch) commits.add(run.commit);
      executions += run.identities.length;
      jobs.push(jobOf(run, run.at + shift, now));
      if (jobs.length < BATCH_JOBS) continue;
      await results.addMany(jobs);
      jobs = [];
    }
    await results.addMany(jobs);
    const pulls = pullRequestsOf([...commits], EVENTFUL_PULL_REQUESTS, now);
    await new Producer(queues, prEvents).add(pulls, 'demo-pull-requests');
    await judged(deps, executions);
    return executions;
  } finally {
    await queues.close();
  }
}

/** Returns when this many executions are stored and evaluated. */
async function judged({ postgres }: PostgresDeps, executions: number): Promise<void> {
  for (;;) {
    const { rows } = await postgres.pool.query<{ judged: string }>(
      'select coalesce(sum(executions), 0) as judged from ci_insights.ingest_blocks where evaluated_at is not null',
    );
    if (Number(rows[0]?.judged) >= executions) return;
    await Bun.sleep(200);
  }
}
