/** A PostgreSQL server of the machine, with its own programs for backups, on a new folder. */
import { chownSync, existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../tests/support/free-port.ts';

const DEBIAN = '/usr/lib/postgresql';
const USER = 'postgres';

export interface PostgresServer {
  /** The folder of `pg_dump`, `createdb` and the others. */
  programs: string;
  host: string;
  port: string;
  user: string;
  url(database: string): string;
  stop(): Promise<void>;
}

/** Throws if none is installed. */
export async function startPostgresServer(data: string): Promise<PostgresServer> {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).sort() : [];
  const version = versions.at(-1);
  if (version === undefined) throw new Error('PostgreSQL is missing: apt-get install postgresql');
  const programs = join(DEBIAN, version, 'bin');
  const port = await freePort();
  mkdirSync(data);
  const id = (flag: string): number => Number(Bun.spawnSync(['id', flag, USER]).stdout.toString());
  const [uid, gid] = [id('-u'), id('-g')];
  // It refuses to run as root.
  const isRoot = process.getuid?.() === 0;
  if (isRoot) chownSync(data, uid, gid);
  const as = isRoot ? { uid, gid } : {};
  const made = Bun.spawnSync([join(programs, 'initdb'), '-D', data, '-U', USER, '-A', 'trust', '-N'], as);
  if (made.exitCode !== 0) throw new Error(made.stderr.toString());
  const server = Bun.spawn(
    [join(programs, 'postgres'), '-D', data, '-p', String(port), '-k', data, '-h', '127.0.0.1'],
    { ...as, stdout: 'ignore', stderr: 'ignore' },
  );
  const isReady = (): boolean =>
    Bun.spawnSync([join(programs, 'pg_isready'), '-q', '-h', '127.0.0.1', '-p', String(port)]).exitCode === 0;
  while (!isReady()) {
    if (server.exitCode !== null) throw new Error('PostgreSQL ended before it was ready');
    await Bun.sleep(50);
  }
  return {
    programs,
    host: '127.0.0.1',
    port: String(port),
    user: USER,
    url: (database) => `postgresql://${USER}@127.0.0.1:${port}/${database}`,
    stop: async () => {
      server.kill('SIGINT');
      await server.exited;
    },
  };
}
