/** Answers from memory and shared answers: the quarantine list and equal reads, compared with a bare route with the same bytes. */
import { Elysia } from 'elysia';
import type { Deps } from '../../src/deps.ts';
import { testIdOf } from '../../src/domain/identity.ts';
import { startWorkers } from '../../workers/main.ts';
import { openAppOf, openReplicaOf } from './apps.ts';
import { requestsPerSecond } from './load.ts';
import { type Figure, figure, quantile } from './report.ts';

const QUARANTINES = 100;
const CONNECTIONS = 64;
/** Equal reads are shared by all clients that wait, so many connections are needed to show it. */
const WAITING_CONNECTIONS = 512;
const ROUNDS = 12;
const SECONDS = 1;
const CHANGES = 50;

export async function benchMemory(deps: Deps): Promise<Figure[]> {
  const { quarantines, repositories, keys } = deps;
  const repository = await repositories.record({ host: 'github.com', owner: 'bench', name: 'quarantines' });
  const quarantine = (testName: string) =>
    quarantines.create(repository.id, {
      testName,
      reason: 'Fails when the clock changes, see the issue',
      branch: null,
      source: 'manual',
      actor: 'bench',
    });
  for (let i = 0; i < QUARANTINES; i++) await quarantine(`Cart > totals > sums [${i}] with 10% tax`);
  const key = { name: 'bench', owner: null, scope: 'ci', repositories: null, expiresAt: null } as const;
  const { token } = await keys.create(key);
  const authorization = `Bearer ${token}`;
  const app = openAppOf(deps).listen({ hostname: '127.0.0.1', port: 0 });
  const workers = startWorkers(deps);
  await deps.notifications.connect();
  const origin = app.server?.url.origin;
  const base = `${origin}/v1/ci/bench/repositories/quarantines`;
  try {
    const list = `${base}/quarantines`;
    const [bareList, listRate] = await against(list, authorization, CONNECTIONS);
    const seen = await untilSeen(deps, quarantine, list, authorization);
    const logged = await untilLogged(deps, quarantine, `${origin}/v1/repos/bench/quarantines/logs`);
    const details = await ordinaryTest(deps, origin);
    const figures = [
      figure('quarantines.list_100', listRate, 'requests/s', bareList, { atLeast: 0.7 }),
      figure('quarantines.change_seen_elsewhere_p99', seen, 'ms', null, { atMost: 1_000 }),
      figure('events.change_logged_p99', logged, 'ms', null, { atMost: 1_000 }),
    ];
    if (details !== undefined) {
      const [bare, rate] = await against(details, authorization, WAITING_CONNECTIONS);
      figures.push(figure('read.repeated_equal', rate, 'requests/s', bare, { atLeast: 0.5 }));
    }
    return figures;
  } finally {
    await app.stop(true);
    await workers.stop();
  }
}

/** The same bytes from a bare route and from the address itself: the best of some rounds, one after the other. */
async function against(url: string, authorization: string, connections: number): Promise<[number, number]> {
  const bytes = await (await fetch(url, { headers: { authorization } })).bytes();
  const bare = new Elysia()
    .get('/bare', () => new Response(bytes, { headers: { 'content-type': 'application/json' } }))
    .listen({ hostname: '127.0.0.1', port: 0 });
  const best: [number, number] = [0, 0];
  for (let round = 0; round < ROUNDS; round++) {
    const floor = await requestsPerSecond(`${bare.server?.url.origin}/bare`, undefined, connections, SECONDS);
    const rate = await requestsPerSecond(url, authorization, connections, SECONDS);
    best[0] = Math.max(best[0], floor);
    best[1] = Math.max(best[1], rate);
  }
  await bare.stop(true);
  return best;
}

/** How long after the commit another process answers with a change: the 99th percentile. */
async function untilSeen(
  deps: Deps,
  quarantine: (name: string) => Promise<{ id: string } | undefined>,
  list: string,
  authorization: string,
): Promise<number> {
  const replica = await openReplicaOf(deps);
  const path = new URL(list).pathname;
  const ask = async (): Promise<string> =>
    (await replica.app.handle(new Request(`http://replica.local${path}`, { headers: { authorization } }))).text();
  const waits: number[] = [];
  for (let i = 0; i < CHANGES; i++) {
    await ask();
    const created = await quarantine(`change ${i}`);
    const started = performance.now();
    while (!(await ask()).includes(created?.id ?? 'none')) await Bun.sleep(0);
    waits.push(performance.now() - started);
  }
  await replica.close();
  return quantile(waits, 0.99);
}

/** How long after the commit the event of a change is in the log: the 99th percentile. */
async function untilLogged(
  deps: Deps,
  quarantine: (name: string) => Promise<{ id: string } | undefined>,
  log: string,
): Promise<number> {
  const { token } = await deps.keys.create({
    name: 'bench log',
    owner: null,
    scope: 'admin',
    repositories: null,
    expiresAt: null,
  });
  const headers = { authorization: `Bearer ${token}` };
  const waits: number[] = [];
  for (let i = 0; i < CHANGES; i++) {
    const created = await quarantine(`logged change ${i}`);
    const started = performance.now();
    while (!(await (await fetch(log, { headers })).text()).includes(created?.id ?? 'none')) await Bun.sleep(1);
    waits.push(performance.now() - started);
  }
  return quantile(waits, 0.99);
}

/** The address of a test in the data of the reads; undefined if that data was not generated. */
async function ordinaryTest(deps: Deps, origin: string | undefined): Promise<string | undefined> {
  const [row] = (await deps.clickhouse.rows(
    'SELECT toString(repository_id) AS repository_id, any(test_name) AS name FROM ci.catalog GROUP BY repository_id LIMIT 1',
  )) as { repository_id: string; name: string }[];
  const found = (await deps.repositories.list()).find(({ id }) => id === row?.repository_id);
  if (!row || !found) return undefined;
  return `${origin}/v1/ci/${found.owner}/repositories/${found.name}/tests/${testIdOf(found.id, row.name)}`;
}
