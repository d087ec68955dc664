/**
 * `npm run demo`: the service on a temporary folder, with 90 days of a made-up repository. It prints a link that signs
 * in, once. Ctrl-C ends it and removes the folder.
 */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { sql } from 'drizzle-orm';
import { z } from 'zod';
import { readConfig, SETTINGS } from '../src/config.ts';
import { openPostgresDeps, type PostgresDeps } from '../src/deps.ts';
import { createLogger } from '../src/observability/log.ts';
import { recordEvents } from '../src/postgres/outbox.ts';
import { type CodeownersFile, writeCodeowners } from '../src/postgres/owners.ts';
import { blockParts, ingestBlocks, stale } from '../src/postgres/schema.ts';
import { openQueues } from '../src/queue/open.ts';
import type { PackedJob } from '../src/queue/packed-job.ts';
import { prEvents } from '../src/queue/pr-events.ts';
import { Producer } from '../src/queue/producer.ts';
import { testRuns } from '../src/queue/test-runs.ts';
import { type BundledChunk, packBundle, uploadBundles } from '../src/queue/upload-bundles.ts';
import { jobOf, LIVELY, LIVELY_WORLD } from '../tests/simulation/lively.ts';
import { matrixOf } from '../tests/simulation/lively-matrix.ts';
import { eventsOf, type LivelyPull, pullRequestsOf, pullsOf, queueRunsOf } from '../tests/simulation/lively-pulls.ts';
import { makeWorld } from '../tests/simulation/world.ts';

/** A job of the queue costs as much as storing some hundred executions, and a run has thirty. */
const BUNDLE_RUNS = 100;
const LOG_MS = 30 * 86_400_000;
/** Of the made-up repository: some areas have no owner, and one pattern matches nothing. */
const CODEOWNERS: CodeownersFile = {
  host: 'github',
  path: '.github/CODEOWNERS',
  content: [
    '# Who reviews what',
    '/src/cart/      @acme/checkout',
    '/src/checkout/  @acme/checkout',
    '/src/payments/  @acme/payments @acme/checkout',
    '/src/catalog/   @acme/catalog',
    '/src/search/    @acme/catalog',
    '/src/accounts/  @acme/identity',
    '/src/shipping/  @acme/logistics',
    '/src/wishlist/  @acme/catalog',
    '/src/**/sessions.test.ts  @acme/identity',
  ].join('\n'),
  files: [],
};
const CLI = resolve(import.meta.dir, '../src/cli.ts');
const progress = z.object({ stored: z.coerce.number(), is_waiting: z.boolean() });

if (import.meta.main) await demo();

async function demo(): Promise<void> {
  const memory = '/dev/shm';
  const folder = mkdtempSync(join(existsSync(memory) ? memory : tmpdir(), 'ci-insights-demo-'));
  const environment = demoEnvironment(process.env, folder);
  const startedAt = performance.now();
  const child = Bun.spawn([process.execPath, CLI, 'serve'], { env: environment, stdout: 'pipe', stderr: 'inherit' });
  let isStopping = false;
  const stop = async (status = 0): Promise<void> => {
    if (isStopping) return;
    isStopping = true;
    child.kill('SIGTERM');
    await child.exited;
    rmSync(folder, { recursive: true, force: true });
    process.exit(status);
  };
  process.on('SIGINT', () => void stop());
  process.on('SIGTERM', () => void stop());
  // While the service starts.
  const history = makeHistory(Date.now());
  const origin = await originOf(child.stdout);
  if (origin === undefined) {
    rmSync(folder, { recursive: true, force: true });
    process.exit(1);
  }
  console.log(
    `ci-insights runs at ${origin}. Sending it ${LIVELY_WORLD.days} days of ${LIVELY.owner}/${LIVELY.name} …`,
  );
  const deps = await openPostgresDeps(readConfig(environment), { log: createLogger('error') });
  try {
    await send(deps, history);
    const { pass } = await deps.sessions.offer({
      keyId: null,
      actor: 'demo',
      scope: 'admin',
      owner: null,
      repositories: null,
    });
    const seconds = Math.round((performance.now() - startedAt) / 1_000);
    console.log(
      `${history.executions.toLocaleString('en')} executions, ready after ${seconds} s. This link signs in, once, within 10 minutes:\n`,
    );
    console.log(`  ${origin}/app/sign-in#${pass}\n`);
    console.log('Ctrl-C ends the demo and removes its data.');
  } catch (error) {
    console.error(error);
    await stop(1);
  } finally {
    await deps.close();
  }
  await child.exited;
  await stop();
}

/**
 * Without any setting of yours but the port: the demo fills the stores that it finds, and prints a link for an operator. So
 * it has none but its own, and no way to another service.
 */
export function demoEnvironment(given: Record<string, string | undefined>, folder: string): Record<string, string> {
  const isYours = (name: string): boolean => SETTINGS.includes(name) || /^(?:PG|OTEL_|CI_INSIGHTS_)/.test(name);
  const others = Object.entries(given).flatMap(([name, value]) =>
    value === undefined || isYours(name) ? [] : [[name, value] as const],
  );
  return { ...Object.fromEntries(others), DATA_DIR: folder, PORT: given.PORT || '3000', LOG_LEVEL: 'error' };
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

/** Everything that the repository sent in its life, as jobs of the queues. */
interface History {
  executions: number;
  results: readonly PackedJob[];
  pulls: readonly LivelyPull[];
}

/** @param now milliseconds: the last day of the history ends then */
function makeHistory(now: number): History {
  const world = makeWorld(LIVELY_WORLD);
  const shift = now - world.end;
  const runs = [...world.runs()].map((run) => ({ ...run, at: run.at + shift })).filter(({ at }) => at <= now);
  const pulls = pullsOf(runs);
  const pullOf = new Map(pulls.flatMap((pull) => pull.commits.map(({ commit }) => [commit, pull])));
  const jobs = runs.map((run) => ({
    at: run.at,
    job: jobOf(run, { startedAt: run.at, now, pull: pullOf.get(run.commit) }),
  }));
  for (const { run, pull } of queueRunsOf(pulls, runs))
    jobs.push({ at: run.at, job: jobOf(run, { startedAt: run.at, now, pull }) });
  const chunks: BundledChunk[] = [];
  let executions = 0;
  for (const { job } of [...jobs, ...matrixOf(runs, now)].sort((a, b) => a.at - b.at)) {
    executions += job.executions.key.length;
    chunks.push({ id: testRuns.id(job), json: JSON.stringify(job), trace: undefined });
  }
  const results = Array.from({ length: Math.ceil(chunks.length / BUNDLE_RUNS) }, (_, i) =>
    packBundle(`demo-${i}`, chunks.slice(i * BUNDLE_RUNS, (i + 1) * BUNDLE_RUNS)),
  );
  return { executions, results, pulls };
}

/** Returns when everything is stored and judged. */
async function send(deps: PostgresDeps, { executions, results, pulls }: History): Promise<void> {
  const repository = await deps.repositories.record({ host: 'github.com', ...LIVELY });
  // Before any other event: those of a repository are in order of time.
  await deps.postgres.db.transaction(async (tx) => {
    for (const { at, event } of eventsOf(pulls, { from: Date.now() - LOG_MS, to: Date.now() }))
      await recordEvents(tx, repository.id, [event], at);
  });
  await writeCodeowners(deps.postgres.db, repository.id, CODEOWNERS, { name: 'demo', now: Date.now() });
  await deps.repositories.set(repository, { autoQuarantine: 'flaky+broken' }, 'demo');
  const queues = await openQueues(deps.config, deps.databaseUrl, () => {});
  try {
    await new Producer(queues, uploadBundles).addPacked(results);
    await new Producer(queues, prEvents).add(pullRequestsOf(pulls), 'demo-pull-requests');
    await judged(deps, executions);
  } finally {
    await queues.close();
  }
}

/** Returns when this many executions are stored and evaluated, and nothing is stale. */
async function judged({ postgres }: PostgresDeps, executions: number): Promise<void> {
  for (;;) {
    const { rows } = await postgres.db.execute(sql`
      select (select coalesce(sum(executions), 0) from ${ingestBlocks} where stored_at is not null) as stored,
        exists (select from ${blockParts}) or exists (select from ${stale} where noted_at is not null) as is_waiting`);
    const { stored, is_waiting: isWaiting } = progress.parse(rows[0]);
    if (stored >= executions && !isWaiting) return;
    await Bun.sleep(50);
  }
}
