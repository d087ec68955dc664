/** A load balancer, as in front of API processes in production: probes them often, and sends new connections to a ready one. */
import { connect, createServer, type Socket } from 'node:net';
import { until } from './patience.ts';

const ASK_EVERY_MS = 50;

export interface Balancer {
  url: string;
  /** Returns when it sees every process as ready, which a rolling restart waits for before the next process. */
  allReady(): Promise<void>;
  close(): Promise<void>;
}

export async function startBalancer(ports: readonly number[]): Promise<Balancer> {
  const ready = new Set<number>();
  const sockets = new Set<Socket>();
  let next = 0;
  const ask = async (port: number): Promise<void> => {
    const isReady = await fetch(`http://127.0.0.1:${port}/healthz/ready`, { keepalive: false }).then(
      (response) => response.ok,
      () => false,
    );
    if (isReady) ready.add(port);
    else ready.delete(port);
  };
  const timer = setInterval(() => void Promise.all(ports.map(ask)), ASK_EVERY_MS);
  await Promise.all(ports.map(ask));

  // While none is ready, a connection waits, as balancers make it do.
  const nextReady = async (): Promise<number> => {
    for (;;) {
      const turn = [...ready];
      const port = turn[next++ % turn.length];
      if (port !== undefined) return port;
      await Bun.sleep(ASK_EVERY_MS);
    }
  };
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, async (client) => {
    client.on('error', () => client.destroy());
    const port = await nextReady();
    const backend = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    for (const [from, to] of [
      [client, backend],
      [backend, client],
    ] as const) {
      sockets.add(from);
      from.pipe(to);
      from.on('error', () => to.destroy());
      from.on('close', () => {
        sockets.delete(from);
        to.end();
      });
    }
  });
  const port = await new Promise<number>((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      resolve(address && typeof address === 'object' ? address.port : 0);
    });
  });
  return {
    url: `http://127.0.0.1:${port}`,
    allReady: async () => {
      await until(() => ready.size >= ports.length, Boolean, ASK_EVERY_MS);
    },
    close: async () => {
      clearInterval(timer);
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
