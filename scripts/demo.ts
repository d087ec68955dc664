/**
 * `npm run demo`: the service on a temporary folder, with the last months of made-up repositories. It prints a link that
 * signs in, once, and where to look. Ctrl-C ends it and removes the folder.
 */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { eq, sql } from 'drizzle-orm';
import { z } from 'zod';
import { signInLink } from '../src/access/sign-in-link.ts';
import { readConfig, SETTINGS } from '../src/config.ts';
import { openPostgresDeps, type PostgresDeps } from '../src/deps.ts';
import { createLogger } from '../src/observability/log.ts';
import { blockParts, ingestBlocks, stale, testRenames } from '../src/postgres/schema.ts';
import { openQueues } from '../src/queue/open.ts';
import { prEvents } from '../src/queue/pr-events.ts';
import { Producer } from '../src/queue/producer.ts';
import { uploadBundles } from '../src/queue/upload-bundles.ts';
import { historyOf, type LivelyHistory } from '../tests/simulation/lively-history.ts';
import { pullRequestsOf } from '../tests/simulation/lively-pulls.ts';
import { LIVELY_REPOSITORIES, SHOP } from '../tests/simulation/lively-repositories.ts';
import { recordDeeds, takeOn } from './demo-deeds.ts';

/** What is worth a look, below the address of the application. */
const SIGHTS = [
  ['', 'the repositories, those with the most trouble first'],
  [`/${SHOP.owner}/${SHOP.name}`, 'today: what broke, who is on it, what it cost'],
  [`/${SHOP.owner}/${SHOP.name}/causes`, 'what many failures have in common'],
  [`/${SHOP.owner}/${SHOP.name}/pulls`, 'pull requests, with a verdict on each'],
  [`/${SHOP.owner}/${SHOP.name}/lanes`, 'runners and legs of a matrix, side by side'],
] as const;
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
  const histories = LIVELY_REPOSITORIES.map((repository) => historyOf(repository, Date.now()));
  const executions = histories.reduce((sum, history) => sum + history.executions, 0);
  const origin = await originOf(child.stdout);
  if (origin === undefined) {
    rmSync(folder, { recursive: true, force: true });
    process.exit(1);
  }
  console.log(`ci-insights runs at ${origin}. Sending it three months of ${histories.length} repositories …`);
  const deps = await openPostgresDeps(readConfig(environment), { log: createLogger('error') });
  try {
    await send(deps, histories);
    const link = await signInLink(deps.sessions, origin, { keyId: null, actor: 'demo' });
    const seconds = Math.round((performance.now() - startedAt) / 1_000);
    console.log(
      `${executions.toLocaleString('en')} executions, ready after ${seconds} s. This link signs in, once, within 10 minutes:\n`,
    );
    console.log(`  ${link}\n`);
    console.log('Then look at:\n');
    for (const [path, what] of SIGHTS) console.log(`  ${`${origin}/app${path}`.padEnd(48)}${what}`);
    console.log('  Ctrl-K finds a pull request, a commit, a test or a message from anywhere.\n');
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
  const isYours = (name: string): boolean =>
    SETTINGS.includes(name.replace(/_FILE$/, '')) || /^(?:PG|OTEL_|CI_INSIGHTS_)/.test(name);
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

/** Returns when everything is stored and judged. */
async function send(deps: PostgresDeps, histories: readonly LivelyHistory[]): Promise<void> {
  for (const history of histories) await recordDeeds(deps, history);
  const queues = await openQueues(deps.config, deps.databaseUrl, () => {});
  try {
    for (const { repository, results, pulls } of histories) {
      await new Producer(queues, uploadBundles).addPacked(results);
      await new Producer(queues, prEvents).add(pullRequestsOf(repository, pulls), `demo-${repository.name}`);
    }
    await judged(
      deps,
      histories.reduce((sum, { executions }) => sum + executions, 0),
    );
  } finally {
    await queues.close();
  }
  await takeOn(deps);
  await renamed(deps);
}

/** Returns when this many executions are stored and evaluated, and nothing is stale but what rests for long. */
async function judged({ postgres }: PostgresDeps, executions: number): Promise<void> {
  for (;;) {
    const { rows } = await postgres.db.execute(sql`
      select (select coalesce(sum(executions), 0) from ${ingestBlocks} where stored_at is not null) as stored,
        exists (select from ${blockParts}) or exists (select from ${stale} where noted_at is not null
          and not (kind in ('durations', 'renames') and rests_until > now())) as is_waiting`);
    const { stored, is_waiting: isWaiting } = progress.parse(rows[0]);
    if (stored >= executions && !isWaiting) return;
    await Bun.sleep(50);
  }
}

/** Returns when tests that were renamed have their history. */
async function renamed({ postgres: { db } }: PostgresDeps): Promise<void> {
  while ((await db.$count(testRenames, eq(testRenames.isApplied, false))) > 0) await Bun.sleep(50);
}
