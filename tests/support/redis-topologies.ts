/** Redis as platform teams run it: a cluster of three masters, and a master with a replica that a sentinel watches. */
import { spawn } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { makeFolder } from './folder.ts';
import { freePort } from './free-port.ts';
import { untilListening } from './listening.ts';
import { until } from './patience.ts';

const SLOTS = 16_384;
const MASTERS = 3;
/** The port of a cluster's bus is this much above its server's. */
const BUS_OFFSET = 10_000;
const PORT_MAX = 65_535;

interface Server {
  port: number;
  stop(): Promise<void>;
}

export interface TestTopology {
  url: string;
  /** Kills the server with the queues. */
  loseMaster(): Promise<void>;
  stop(): Promise<void>;
}

async function startServer(kind: 'server' | 'sentinel', port: number, settings: readonly string[]): Promise<Server> {
  const folder = makeFolder('redis');
  const file = join(folder, 'redis.conf');
  writeFileSync(file, [`port ${port}`, `dir ${folder}`, 'bind 127.0.0.1', 'save ""', ...settings].join('\n'));
  const server = spawn('redis-server', [file, ...(kind === 'sentinel' ? ['--sentinel'] : [])], { stdio: 'ignore' });
  let isRunning = true;
  const ended = new Promise<void>((resolve) => {
    server.once('exit', () => {
      isRunning = false;
      resolve();
    });
  });
  await untilListening(port, () => !isRunning);
  return {
    port,
    stop: async () => {
      if (isRunning) server.kill('SIGKILL');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function told(port: number, command: string, ...words: (string | number)[]): Promise<unknown> {
  const connection = new Redis({ port, host: '127.0.0.1', lazyConnect: true, retryStrategy: () => null });
  connection.on('error', () => {});
  try {
    await connection.connect();
    return await connection.call(command, ...words);
  } finally {
    connection.disconnect();
  }
}

async function freeClusterPort(): Promise<number> {
  for (;;) {
    const port = await freePort();
    if (port + BUS_OFFSET <= PORT_MAX) return port;
  }
}

export async function startRedisCluster(): Promise<TestTopology> {
  const masters: Server[] = [];
  for (let nth = 0; nth < MASTERS; nth++)
    masters.push(
      await startServer('server', await freeClusterPort(), ['cluster-enabled yes', 'cluster-node-timeout 2000']),
    );
  const [first, ...others] = masters as [Server, ...Server[]];
  for (const { port } of others) await told(first.port, 'CLUSTER', 'MEET', '127.0.0.1', port);
  for (const [nth, { port }] of masters.entries()) {
    const from = Math.floor((SLOTS * nth) / MASTERS);
    const to = Math.floor((SLOTS * (nth + 1)) / MASTERS) - 1;
    await told(port, 'CLUSTER', 'ADDSLOTSRANGE', from, to);
  }
  for (const { port } of masters)
    await until(async () => String(await told(port, 'CLUSTER', 'INFO')).includes('cluster_state:ok'));
  return {
    // One host is enough to find the others.
    url: `redis+cluster://127.0.0.1:1,127.0.0.1:${first.port}`,
    loseMaster: () => first.stop(),
    stop: async () => void (await Promise.all(masters.map((server) => server.stop()))),
  };
}

export async function startSentinels(): Promise<TestTopology> {
  const password = 'p@ss/word';
  // By default a replica waits five seconds for others that want the same copy.
  const own = [`requirepass ${password}`, `masterauth ${password}`, 'repl-diskless-sync-delay 0'];
  const master = await startOwn(own);
  const replica = await startOwn([...own, `replicaof 127.0.0.1 ${master.port}`]);
  const sentinel = await startServer('sentinel', await freePort(), [
    `sentinel monitor queues 127.0.0.1 ${master.port} 1`,
    `sentinel auth-pass queues ${password}`,
    'sentinel down-after-milliseconds queues 500',
    'sentinel failover-timeout queues 3000',
  ]);
  // A replica that has not copied its master yet cannot take its place.
  await until(async () =>
    /master-link-status,ok/.test(String(await told(sentinel.port, 'SENTINEL', 'REPLICAS', 'queues'))),
  );
  return {
    url: `redis+sentinel://:${encodeURIComponent(password)}@127.0.0.1:${sentinel.port}/queues/1`,
    loseMaster: () => master.stop(),
    stop: async () => void (await Promise.all([sentinel, replica, master].map((server) => server.stop()))),
  };
}

const startOwn = async (settings: readonly string[]): Promise<Server> =>
  startServer('server', await freePort(), settings);
