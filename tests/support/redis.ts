/** A real redis-server on a free port, with its own folder, if one is installed. */
import { type ChildProcess, spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { makeFolder } from './folder.ts';
import { freePort } from './free-port.ts';
import { untilListening } from './listening.ts';

export interface TestRedis {
  url: string;
  /** Stops the server; its data is on disk. */
  down(): Promise<void>;
  /** Starts it again, at the same address and with its data. */
  up(): Promise<void>;
  /** Holds the process as it is: connections stay open, and nothing is answered until {@link thaw}. */
  freeze(): void;
  thaw(): void;
  stop(): Promise<void>;
}

export const hasRedis = Bun.which('redis-server') !== null;
if (!hasRedis && process.env.CI === 'true') throw new Error('redis-server is missing: in CI nothing is skipped');
if (!hasRedis) console.error('skipped: tests on Redis, because there is no redis-server here');

/** @param password what clients must send; the address contains it */
export async function startRedis(password?: string): Promise<TestRedis> {
  const folder = makeFolder('redis');
  const port = await freePort();
  const settings = ['--port', String(port), '--dir', folder, '--appendonly', 'yes', '--maxmemory-policy', 'noeviction'];
  if (password !== undefined) settings.push('--requirepass', password);
  const start = async (): Promise<ChildProcess> => {
    const server = spawn('redis-server', [...settings, '--bind', '127.0.0.1', '--save', ''], { stdio: 'ignore' });
    await untilListening(port, () => server.exitCode !== null);
    return server;
  };
  let server = await start();
  const down = async (): Promise<void> => {
    if (server.exitCode !== null) return;
    const ended = new Promise((resolve) => server.once('exit', resolve));
    server.kill('SIGTERM');
    await ended;
  };
  return {
    url: `redis://${password === undefined ? '' : `:${encodeURIComponent(password)}@`}127.0.0.1:${port}`,
    down,
    up: async () => {
      server = await start();
    },
    freeze: () => void server.kill('SIGSTOP'),
    thaw: () => void server.kill('SIGCONT'),
    stop: async () => {
      server.kill('SIGCONT');
      await down();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
