/** Starts the test server with ClickHouse's HTTP interface (clickhouse-server/main.ts), and injects faults. */
import { type ChildProcess, spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { type ClickHouse, openClickHouse } from '../../src/clickhouse/client.ts';
import type { FaultInput } from './clickhouse-server/faults.ts';
import { makeFolder } from './folder.ts';
import { until } from './patience.ts';

const MAIN = fileURLToPath(new URL('./clickhouse-server/main.ts', import.meta.url));
const USER = 'ci';
const PASSWORD = 'a pass/word: with @ and %';

const seenSchema = z.object({ requests: z.int(), connections: z.int(), statements: z.array(z.string()) });

export interface TestClickHouse {
  /** With user and password. */
  url: string;
  /** The next statement, or the next that contains `matching`, meets this fault. */
  fault(fault: FaultInput): Promise<void>;
  /** Statements since the last call; planned faults that no statement met are dropped. */
  seen(): Promise<z.infer<typeof seenSchema>>;
  /** Returns once a statement that contains the text has arrived. Changes neither the planned faults nor what was seen. */
  untilSeen(text: string): Promise<void>;
  stop(): Promise<void>;
}

/** `isCluster`: with the clusters `one` and `two`, of one and two shards (clickhouse-server/one-shard.ts). */
export async function startClickHouseServer(options: { isCluster?: boolean } = {}): Promise<TestClickHouse> {
  const folder = makeFolder('clickhouse');
  const settings = { folder, user: USER, password: PASSWORD, isCluster: options.isCluster ?? false };
  const server = spawn(process.execPath, [MAIN, JSON.stringify(settings)], { stdio: ['pipe', 'pipe', 'inherit'] });
  const port = await firstLine(server);
  const base = `http://127.0.0.1:${port}`;
  const seen = async (query = '') =>
    seenSchema.parse(await (await fetch(`${base}/test/seen${query}`, { keepalive: false })).json());
  return {
    url: `http://${USER}:${encodeURIComponent(PASSWORD)}@127.0.0.1:${port}`,
    fault: async (fault) => {
      await fetch(`${base}/test/fault`, { method: 'POST', body: JSON.stringify(fault), keepalive: false });
    },
    seen: () => seen(),
    untilSeen: async (text) => {
      await until(async () => (await seen('?keep')).statements.some((statement) => statement.includes(text)));
    },
    stop: async () => {
      if (server.exitCode !== null || server.signalCode !== null) return;
      const ended = new Promise((resolve) => server.once('exit', resolve));
      server.kill('SIGTERM');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A client of such a server. */
export async function openOverHttp(): Promise<{ clickhouse: ClickHouse; stop(): Promise<void> }> {
  const server = await startClickHouseServer();
  const clickhouse = await openClickHouse({ url: server.url, path: '' });
  return {
    clickhouse,
    stop: async () => {
      await clickhouse.close();
      await server.stop();
    },
  };
}

function firstLine(server: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once('exit', (code) => reject(new Error(`the ClickHouse test server ended with ${code}`)));
    server.stdout?.once('data', (data: Buffer) => resolve(data.toString().trim()));
  });
}
