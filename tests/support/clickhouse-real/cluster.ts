/**
 * Two real ClickHouse servers as the shards of a cluster, and the address that `CLICKHOUSE_URL` names.
 *
 * The servers, their users and rights, native TCP between them and `Distributed` are real. clickhouse-local, which they are,
 * has neither a queue of `ON CLUSTER` statements nor a port for other replicas. So a proxy stands in for them: each such
 * statement is asked of every server in turn, without replication, and of one that is killed or hangs when it is back. As a
 * server with a queue does, the first one refuses who may not ask. Like a balancer, it sends everything else to the first server
 * that answers.
 */
import { type Server, serve } from 'bun';
import { asOneShard } from '../clickhouse-server/one-shard.ts';
import { freePort } from '../free-port.ts';
import { type User, xml } from './configure.ts';
import { type RealClickHouse, startRealClickHouse } from './server.ts';

const SHARDS = 2;
/** Replication keeps them the same on every host. */
const EVERYWHERE = /^\s*INSERT INTO ci\.(?:migrations|regroup)\b/;
const INSERT = /^\s*INSERT\b/;
/**
 * Of what continues when its client has gone, as an insert does: clickhouse-local ends when a connection is reset on which it waits
 * for another server.
 */
const LATER = new AbortController().signal;
const ON_CLUSTER = / ON CLUSTER \w+/;
const SYNC = /^\s*SYSTEM SYNC REPLICA/;
/** How a server answers who may, where there is no queue or no replication. */
const WITHOUT_QUEUE = '139';
const WITHOUT_REPLICAS = '36';

export interface RealCluster {
  name: string;
  url(user: User): string;
  /** Runs a statement on each shard as one who may do everything. */
  ask(sql: string): Promise<string[]>;
  /** The servers, by the number of their shard. */
  servers: readonly RealClickHouse[];
  stop(): Promise<void>;
}

/** @param users the first is the one as whom the servers ask each other */
export async function startRealCluster(users: readonly [User, ...User[]]): Promise<RealCluster> {
  const name = 'two';
  const [{ name: user, password }] = users;
  const tcpPorts = await Promise.all(Array.from({ length: SHARDS }, () => freePort()));
  const replicas = tcpPorts.map(
    (
      port,
    ) => `<shard><internal_replication>true</internal_replication><replica><host>127.0.0.1</host><port>${port}</port>
      <user>${user}</user><password>${xml(password)}</password></replica></shard>`,
  );
  const servers = await Promise.all(
    tcpPorts.map((tcpPort, shard) =>
      startRealClickHouse(users, {
        tcpPort,
        config: `<remote_servers><${name}>${replicas.join('')}</${name}></remote_servers>
          <macros><shard>${shard}</shard><replica>first</replica></macros>`,
      }),
    ),
  );
  const { proxy, catchUp } = startProxy(servers);
  return {
    name,
    url: (one) => `http://${one.name}:${encodeURIComponent(one.password)}@127.0.0.1:${proxy.port}`,
    ask: (sql) => Promise.all(servers.map((server) => server.ask(sql))),
    servers: servers.map((server) => withQueue(server, () => catchUp(server))),
    stop: async () => {
      await proxy.stop(true);
      await Promise.all(servers.map((server: RealClickHouse) => server.stop()));
    },
  };
}

/** The same server, which first does what was asked of it while it was away. */
const withQueue = (server: RealClickHouse, catchUp: () => Promise<void>): RealClickHouse => ({
  ...server,
  get isAnswering() {
    return server.isAnswering;
  },
  start: async () => {
    await server.start();
    await catchUp();
  },
  resume: async () => {
    await server.resume();
    await catchUp();
  },
});

interface Sent {
  path: string;
  method: string;
  headers: Headers;
  signal: AbortSignal;
}

async function send(server: RealClickHouse, { path, ...request }: Sent, body: Uint8Array | string): Promise<Response> {
  const answer = await fetch(new URL(server.url()).origin + path, {
    ...request,
    ...(request.method !== 'GET' && { body }),
  });
  const headers = new Headers(answer.headers);
  // The answer is unpacked here.
  for (const one of ['content-encoding', 'content-length', 'transfer-encoding']) headers.delete(one);
  return new Response(answer.body, { status: answer.status, headers });
}

const codeOf = (answer: Response): string | null => answer.headers.get('x-clickhouse-exception-code');

function startProxy(servers: readonly RealClickHouse[]): {
  proxy: Server<undefined>;
  /** Asks a server what was asked of all while it was away. */
  catchUp(server: RealClickHouse): Promise<void>;
} {
  const waiting = new Map(servers.map((server): [RealClickHouse, (() => Promise<unknown>)[]] => [server, []]));
  const answering = (): RealClickHouse[] => servers.filter(({ isAnswering }) => isAnswering);
  const unanswered = (): Response => new Response('no server answers', { status: 502 });

  /** Its answer if it is refused. The server asks for the right before it finds that there is no queue. */
  const refusalToAskOthers = async (request: Sent): Promise<Response | undefined> => {
    const [first] = answering();
    if (!first) return unanswered();
    const answer = await send(first, request, 'SYSTEM SYNC REPLICA ON CLUSTER two ci.migrations');
    return codeOf(answer) === WITHOUT_QUEUE ? undefined : answer;
  };
  /** Not again once a server may have begun with it. */
  const anywhere = async (request: Sent, body: Uint8Array | string): Promise<Response> => {
    const [first] = answering();
    return first ? send(first, request, body).catch(unanswered) : unanswered();
  };
  /** Returns when those that answer have done it; as with `null_status_on_timeout`, which waits a minute for the others. */
  const everywhere = async (request: Sent, body: Uint8Array | string, isDone = (_: Response) => false) => {
    for (const server of servers) {
      if (!server.isAnswering) {
        waiting.get(server)?.push(() => send(server, { ...request, signal: LATER }, body));
        continue;
      }
      const answer = await send(server, request, body);
      if (!answer.ok && !isDone(answer)) return answer;
      await answer.arrayBuffer();
    }
    return new Response('', { headers: { 'x-clickhouse-summary': '{}' } });
  };
  const onCluster = async (request: Sent, sql: string): Promise<Response> => {
    const refusal = await refusalToAskOthers(request);
    if (refusal !== undefined) return refusal;
    const here = sql.replace(ON_CLUSTER, '');
    // Nothing is replicated here, but a user without the right to ask for it is refused all the same.
    if (SYNC.test(sql)) return everywhere(request, here, (answer) => codeOf(answer) === WITHOUT_REPLICAS);
    return everywhere(request, asOneShard(here));
  };

  const proxy = serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 0,
    fetch: async (request) => {
      const url = new URL(request.url);
      // There is one replica of each shard.
      for (const setting of ['insert_quorum', 'insert_quorum_timeout']) url.searchParams.delete(setting);
      const headers = new Headers(request.headers);
      for (const one of ['host', 'content-length', 'content-encoding', 'accept-encoding']) headers.delete(one);
      const bytes = new Uint8Array(await request.arrayBuffer());
      const body = request.headers.get('content-encoding') === 'gzip' ? Bun.gunzipSync(bytes) : bytes;
      const text = new TextDecoder().decode(body.subarray(0, 100_000));
      const sql = `${url.searchParams.get('query') ?? ''}${text}`;
      const signal = INSERT.test(sql) ? LATER : request.signal;
      const sent = { path: url.pathname + url.search, method: request.method, headers, signal };
      if (EVERYWHERE.test(sql)) return everywhere(sent, body);
      return ON_CLUSTER.test(sql) ? onCluster(sent, text) : anywhere(sent, body);
    },
  });

  return {
    proxy,
    catchUp: async (server) => {
      // A connection from before may have ended meanwhile; a statement of the queue may run twice.
      for (const again of waiting.get(server)?.splice(0) ?? []) await again().catch(again);
    },
  };
}
