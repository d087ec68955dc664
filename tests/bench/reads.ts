/** Reads over HTTP, each compared with the same SQL through the same client in the same run. */
import type { Deps } from '../../src/deps.ts';
import { repositoryIdOf, testIdOf } from '../../src/domain/identity.ts';
import { lineOf } from '../../src/ledger/block.ts';
import { prepareChunk } from '../../src/ledger/prepare.ts';
import { openAppOf } from './apps.ts';
import { makeJobs, ownerOf, repositoryName, testName } from './data.ts';
import { type Figure, figure, quantile } from './report.ts';

const TESTS = 20_000;
const REPOSITORIES = 5;
const CHUNK = 5_000;
const ROUNDS = 60;
const PARALLEL = 16;
/** A rank in the middle of the distribution: an ordinary test. */
const ORDINARY = 2_000;
const HOTTEST = 0;

export interface ReadOptions {
  seed: number;
  executions: number;
  now: number;
}

interface Read {
  name: string;
  path: string;
}

export async function benchReads(deps: Deps, options: ReadOptions): Promise<Figure[]> {
  const { now } = options;
  const { key, token } = await deps.keys.create({
    name: 'bench',
    owner: null,
    scope: 'admin',
    repositories: null,
    expiresAt: null,
  });
  const repository = await deps.repositories.record({ host: 'github.com', owner: ownerOf, name: repositoryName(0) });
  const statements = recordStatements(deps);
  const app = openAppOf(deps).listen({ hostname: '127.0.0.1', port: 0 });
  const origin = app.server?.url.origin;
  const get = async (path: string): Promise<void> => {
    const response = await fetch(`${origin}${path}`, { headers: { authorization: `Bearer ${token}` } });
    await response.arrayBuffer();
    if (!response.ok) throw new Error(`${path} answered ${response.status}`);
  };
  const figures: Figure[] = [];
  const tenth = options.executions / 10;
  await fill(deps, options, tenth, now);
  const small = await medians(readsOf(repository.id, now), get);
  await fill(deps, { ...options, seed: options.seed + 100 }, options.executions - tenth, now);

  for (const read of readsOf(repository.id, now)) {
    const { through, bare, p99 } = await compare(read, get, statements, deps);
    figures.push(figure(`read.${read.name}`, through, 'ms', bare, { atMost: 1.25 }));
    if (read.name.endsWith('ordinary')) figures.push(figure(`read.${read.name}_p99`, p99, 'ms', null, { atMost: 60 }));
    const goal = read.name.startsWith('search') ? 3 : read.name.endsWith('hottest') ? 2.5 : 1.5;
    figures.push(figure(`read.${read.name}_ten_times`, through, 'ms', small.get(read.name) ?? null, { atMost: goal }));
  }
  figures.push(await parallel(readsOf(repository.id, now), get));
  await app.stop();
  await deps.keys.revoke(key.id);
  return figures;
}

function readsOf(repositoryId: string, now: number): Read[] {
  const base = `/v1/ci/${ownerOf}/repositories/${repositoryName(0)}`;
  const since = (days: number): string =>
    `start=${new Date(now - days * 86_400_000).toISOString()}&end=${new Date(now).toISOString()}`;
  const perTest = [
    ['ordinary', ORDINARY],
    ['hottest', HOTTEST],
  ].flatMap(([kind, rank]) => {
    const test = `${base}/tests/${testIdOf(repositoryId, testName(Number(rank)))}`;
    return [
      { name: `details_${kind}`, path: test },
      { name: `stats_1d_${kind}`, path: `${test}/stats/success_count?${since(1)}` },
      { name: `stats_30d_${kind}`, path: `${test}/stats/mean_duration?${since(30)}` },
      { name: `stats_90d_${kind}`, path: `${test}/stats/failure_count?${since(89)}` },
      { name: `flaky_30d_${kind}`, path: `${test}/stats/flaky_count?${since(30)}` },
      { name: `failures_${kind}`, path: `${test}/failures` },
      { name: `executions_30d_${kind}`, path: `${test}/executions?${since(30)}` },
    ];
  });
  return [
    ...perTest,
    {
      name: 'search_narrow',
      path: `${base}/search/tests?test_name=${encodeURIComponent('suite 5 > feature 50* > *')}`,
    },
    { name: 'search_all', path: `${base}/search/tests?test_name=*` },
  ];
}

/** Wraps the client so that the statement behind a read can be sent again, bare. */
function recordStatements(deps: Deps): { last: (() => Promise<unknown>) | undefined } {
  const recorded: { last: (() => Promise<unknown>) | undefined } = { last: undefined };
  const { clickhouse } = deps;
  const select = clickhouse.select.bind(clickhouse);
  clickhouse.select = (query, params) => {
    const values = typeof params === 'function' ? params() : params;
    recorded.last = () => clickhouse.rows(query.sql, values);
    return select(query, values);
  };
  return recorded;
}

async function compare(
  read: Read,
  get: (path: string) => Promise<void>,
  statements: ReturnType<typeof recordStatements>,
  _deps: Deps,
) {
  await get(read.path);
  const bare = statements.last;
  if (!bare) throw new Error(`${read.name} sent no statement`);
  const through: number[] = [];
  const floor: number[] = [];
  // Alternating, so that other load on the machine affects both.
  for (let round = 0; round < ROUNDS; round++) {
    through.push(await timed(() => get(read.path)));
    floor.push(await timed(bare));
  }
  return { through: quantile(through, 0.5), bare: quantile(floor, 0.5), p99: quantile(through, 0.99) };
}

async function medians(reads: readonly Read[], get: (path: string) => Promise<void>): Promise<Map<string, number>> {
  const found = new Map<string, number>();
  for (const { name, path } of reads) {
    const times: number[] = [];
    for (let round = 0; round < ROUNDS; round++) times.push(await timed(() => get(path)));
    found.set(name, quantile(times, 0.5));
  }
  return found;
}

/** 16 at a time compared with one at a time; each reads another test, so that nothing is shared. */
async function parallel(reads: readonly Read[], get: (path: string) => Promise<void>): Promise<Figure> {
  const stats = reads.find((read) => read.name === 'stats_30d_ordinary') as Read;
  const repositoryId = repositoryIdOf('github.com', ownerOf, repositoryName(0));
  const paths = Array.from({ length: 320 }, (_, i) =>
    stats.path.replace(/tests\/[0-9a-f-]+/, `tests/${testIdOf(repositoryId, testName(i))}`),
  );
  const one = await timed(async () => {
    for (const path of paths) await get(path);
  });
  const many = await timed(async () => {
    const rest = [...paths];
    await Promise.all(
      Array.from({ length: PARALLEL }, async () => {
        for (let path = rest.pop(); path !== undefined; path = rest.pop()) await get(path);
      }),
    );
  });
  return figure('read.parallel_16', (paths.length / many) * 1_000, 'reads/s', (paths.length / one) * 1_000, {
    atLeast: 1.4,
  });
}

async function timed(run: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await run();
  return performance.now() - started;
}

/** Straight into `ci.ingest`, in blocks as the ledger makes them. The cost of the ledger is measured with ingestion. */
async function fill(deps: Deps, options: ReadOptions, executions: number, now: number): Promise<void> {
  const source = {
    seed: options.seed,
    executions,
    tests: TESTS,
    repositories: REPOSITORIES,
    chunk: CHUNK,
    now,
    days: 89,
  };
  let block: string[] = [];
  let count = 0;
  for (const job of makeJobs(source)) {
    const repositoryId = repositoryIdOf('github.com', job.repository.owner, job.repository.name);
    const chunk = prepareChunk(job, { repositoryId, defaultBranch: 'main', now, retentionDays: 90 });
    block.push(lineOf(chunk, chunk.executions));
    if (block.length < 4) continue;
    await deps.clickhouse.insert('ci.ingest', `${block.join('\n')}\n`, `bench-${options.seed}-${count++}`);
    block = [];
  }
  if (block.length > 0)
    await deps.clickhouse.insert('ci.ingest', `${block.join('\n')}\n`, `bench-${options.seed}-${count}`);
}
