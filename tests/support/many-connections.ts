/** Connections that do nothing, and ones that send a byte at a time, held by another process, which has its own limit of files. */
import { connect, type Socket } from 'node:net';
import { spawn } from 'bun';

const BATCH = 500;
/** Requests that never end. */
const SLOW = [
  'GET /healthz/live HTTP/1.1\r\nHost: a\r\nX-',
  'POST /v1/application HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n',
];

export interface ManyConnections {
  close(): Promise<void>;
}

/** Returns when all of them are connected. The slow ones send a byte every 100 ms. */
export async function openConnections(port: number, idle: number, slow: number): Promise<ManyConnections> {
  const child = spawn([process.execPath, import.meta.path, `${port}`, `${idle}`, `${slow}`], {
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'inherit',
  });
  const first = await child.stdout.getReader().read();
  if (new TextDecoder().decode(first.value) !== 'open\n') throw new Error('the connections could not be opened');
  return {
    close: async () => {
      child.kill();
      await child.exited;
    },
  };
}

function open(port: number, first: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port }, () => {
      if (first !== '') socket.write(first);
      resolve(socket);
    });
    socket.once('error', reject);
    // The server may close them whenever it likes.
    socket.on('error', () => {});
  });
}

if (import.meta.main) {
  const [port = 0, idle = 0, slow = 0] = process.argv.slice(2).map(Number);
  for (let left = idle; left > 0; left -= BATCH)
    await Promise.all(Array.from({ length: Math.min(left, BATCH) }, () => open(port, '')));
  const slowOnes = await Promise.all(Array.from({ length: slow }, (_, i) => open(port, SLOW[i % SLOW.length] ?? '')));
  setInterval(() => {
    for (const socket of slowOnes) if (!socket.destroyed) socket.write('a');
  }, 100);
  process.stdout.write('open\n');
}
