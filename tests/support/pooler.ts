/** A real PgBouncer in transaction mode in front of PostgreSQL, with the settings of docs/operations.md, if one is installed. */
import { chmodSync, chownSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { launch } from '../../src/postgres/embedded-process.ts';
import { makeFolder } from './folder.ts';
import { freePort } from './free-port.ts';
import { untilListening } from './listening.ts';

export interface Pooler {
  /** The same database through the pooler. */
  url: string;
  stop(): Promise<void>;
}

/** Debian has it in /usr/sbin, which is not on everybody's path. */
const program = Bun.which('pgbouncer') ?? Bun.which('pgbouncer', { PATH: '/usr/sbin' });
export const hasPooler = program !== null;
if (!hasPooler && process.env.CI === 'true') throw new Error('pgbouncer is missing: in CI nothing is skipped');
if (!hasPooler) console.error('skipped: tests behind a pooler, because there is no pgbouncer here');

/** Fewer than the clients have, so that transactions of different clients take turns on a connection. */
const SERVER_CONNECTIONS = 6;

/** @param databaseUrl of a server that listens on a unix socket */
export async function startPooler(databaseUrl: string): Promise<Pooler> {
  if (program === null) throw new Error('there is no pgbouncer here');
  const direct = new URL(databaseUrl);
  const socketFolder = direct.searchParams.get('host') ?? '';
  const { username, password } = direct;
  const folder = makeFolder('pgbouncer');
  const port = await freePort();
  const settings = {
    listen_addr: '127.0.0.1',
    listen_port: port,
    unix_socket_dir: '',
    auth_type: 'plain',
    auth_file: join(folder, 'users'),
    pool_mode: 'transaction',
    default_pool_size: SERVER_CONNECTIONS,
    max_client_conn: 200,
    ignore_startup_parameters: 'statement_timeout',
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`);
  const ini = join(folder, 'pgbouncer.ini');
  writeFileSync(ini, `[databases]\n* = host=${socketFolder}\n[pgbouncer]\n${lines.join('\n')}\n`);
  writeFileSync(settings.auth_file, `"${username}" "${decodeURIComponent(password)}"\n`);
  // It refuses to run as root, and only the user of the server reaches the socket.
  const { uid, gid } = statSync(socketFolder);
  for (const path of [folder, ini, settings.auth_file]) chownSync(path, uid, gid);
  chmodSync(settings.auth_file, 0o600);
  const server = launch(program, ['-q', ini], socketFolder);
  const url = new URL(databaseUrl);
  url.search = '';
  url.host = `127.0.0.1:${port}`;
  await untilListening(port, () => server.process.exitCode !== null).catch((cause: unknown) => {
    throw new Error(`pgbouncer did not start: ${server.output()}`, { cause });
  });
  return {
    url: url.href,
    stop: async () => {
      const ended = new Promise((resolve) => server.process.once('exit', resolve));
      // It ends at once, also with clients.
      server.process.kill('SIGTERM');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
