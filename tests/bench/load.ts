/**
 * Load from a separate process, so that the client takes no time from what it measures: so many callers, each of which
 * asks again when it has its answer. What is asked follows a list, so that callers ask for different things.
 */
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { connect, requestOf } from './http-client.ts';
import { type Latency, latencyOf } from './quantile.ts';

const shape = { callers: z.int().min(1), warmSeconds: z.number(), seconds: z.number() };
const httpLoad = z.object({
  kind: z.literal('http'),
  ...shape,
  origin: z.string(),
  authorization: z.string().optional(),
  paths: z.array(z.string()).min(1),
  /** Whether an answer of 503 is waited out: an owner with too many reads in the queue. Others end the load. */
  isPatient: z.boolean(),
});
const sqlLoad = z.object({
  kind: z.literal('sql'),
  ...shape,
  databaseUrl: z.string(),
  /** A name makes it a prepared statement. */
  statement: z.object({ name: z.string(), text: z.string() }),
  values: z.array(z.array(z.union([z.string(), z.number()]))).min(1),
});
const loadSchema = z.discriminatedUnion('kind', [httpLoad, sqlLoad]);
export type Load = z.infer<typeof loadSchema>;

/** A service keeps so many open to its database. */
const SQL_CONNECTIONS_MAX = 16;

/** Runs it in another process. */
export async function runLoad(load: Load): Promise<Latency> {
  const child = Bun.spawn([process.execPath, fileURLToPath(import.meta.url)], {
    stdin: new Blob([JSON.stringify(load)]),
    stdout: 'pipe',
    stderr: 'inherit',
  });
  const printed = await new Response(child.stdout).text();
  if ((await child.exited) !== 0) throw new Error(`the load (${load.kind}) ended with an error`);
  return JSON.parse(printed) as Latency;
}

const REFUSED_PAUSE_MS = 200;

/** Sends the request of this place in the list. False if it was refused. */
type Ask = (place: number) => Promise<boolean>;

async function httpCallers(load: z.infer<typeof httpLoad>): Promise<Ask[]> {
  const requests = load.paths.map((path) => requestOf(load.origin, path, load.authorization));
  return Promise.all(
    Array.from({ length: load.callers }, async () => {
      const send = await connect(load.origin);
      return async (place: number) => {
        const { status } = await send(requests[place % requests.length] as string);
        if (status === 503 && load.isPatient) {
          await Bun.sleep(REFUSED_PAUSE_MS);
          return false;
        }
        if (status !== 200) throw new Error(`${load.paths[place % requests.length]} answered ${status}`);
        return true;
      };
    }),
  );
}

async function sqlCallers(load: z.infer<typeof sqlLoad>): Promise<Ask[]> {
  // Loading it takes longer than a short measurement over HTTP should.
  const { default: pg } = await import('pg');
  const pool = new pg.Pool({
    connectionString: load.databaseUrl,
    max: Math.min(load.callers, SQL_CONNECTIONS_MAX),
  });
  const ask: Ask = async (place) => {
    // JSON, so that the answer can be sent on.
    JSON.stringify(
      (await pool.query({ ...load.statement, values: load.values[place % load.values.length] ?? [] })).rows,
    );
    return true;
  };
  return Array.from({ length: load.callers }, () => ask);
}

async function measured(load: Load): Promise<Latency> {
  const callers = load.kind === 'http' ? await httpCallers(load) : await sqlCallers(load);
  const times: number[] = [];
  const begin = performance.now() + load.warmSeconds * 1_000;
  const end = begin + load.seconds * 1_000;
  let next = 0;
  await Promise.all(
    callers.map(async (ask) => {
      for (let now = performance.now(); now < end; ) {
        const asked = now;
        const isAnswered = await ask(next++);
        now = performance.now();
        // One that takes longer than the measurement counts, whenever it was asked.
        if (isAnswered && (asked >= begin || now >= end)) times.push(now - asked);
      }
    }),
  );
  return latencyOf(times, (performance.now() - begin) / 1_000);
}

if (import.meta.main) {
  process.stdout.write(JSON.stringify(await measured(loadSchema.parse(await Bun.stdin.json()))));
  process.exit(0);
}
