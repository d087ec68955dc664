/** Starts a real ClickHouse server (main.ts) with users that have the given grants and profiles. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { grantsFor, serviceGrantsFor } from '../../../src/clickhouse/grants.ts';
import { makeFolder } from '../folder.ts';
import { freePort } from '../free-port.ts';
import { ADMIN, ask, LIBRARY, type ServerOptions, type User } from './configure.ts';

const MAIN = fileURLToPath(new URL('./main.ts', import.meta.url));

/** The library is there for Linux with glibc on x64 only. */
export const hasRealClickHouse = existsSync(LIBRARY);
if (!hasRealClickHouse) console.error('skipped: a real ClickHouse server runs on Linux with x64 and glibc only');

/** A user with exactly the rights that the documents name, but for those that match `without`. */
export function grantedUser(profile: User['profile'] = {}, without = /^$/, isSharded = false): User {
  const grants = grantsFor(isSharded).map(({ statement }) => statement.replace(/ TO <user>$/, ''));
  return { name: 'service', password: 'a-password', grants: grants.filter((grant) => !without.test(grant)), profile };
}

/** A user with exactly the rights that the documents name for a service on a database that another migrates. */
export function serviceUser(isSharded = false): User {
  const grants = serviceGrantsFor(isSharded).map(({ statement }) => statement.replace(/ TO <user>$/, ''));
  return { name: 'only-service', password: 'its-password', grants };
}

export interface RealClickHouse {
  /** With user and password; by default one who may do everything. */
  url(user?: User): string;
  /** Runs a statement as one who may do everything. */
  ask(sql: string): Promise<string>;
  /** Ends its process at once, as a power loss would. */
  kill(): Promise<void>;
  /** Starts it again, with what it had stored. */
  start(): Promise<void>;
  /** Stops its process: it takes connections, and answers none. */
  hang(): Promise<void>;
  /** Lets it continue. */
  resume(): Promise<void>;
  /** Whether it is neither killed nor hangs. */
  readonly isAnswering: boolean;
  stop(): Promise<void>;
}

interface Run {
  kill(): Promise<void>;
  signal(signal: 'SIGSTOP' | 'SIGCONT'): Promise<void>;
}

interface Launched {
  child: ChildProcess;
  ended: Promise<void>;
}

/** Returns once it answers. */
async function launch(options: ServerOptions): Promise<Launched> {
  const child = spawn(process.execPath, [MAIN, JSON.stringify(options)], { stdio: ['pipe', 'pipe', 'ignore'] });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  await new Promise<void>((resolve, reject) => {
    child.stdout?.once('data', () => resolve());
    void ended.then(() => reject(new Error('the ClickHouse server ended before it was ready')));
  });
  return { child, ended };
}

/**
 * Returns once it answers. As by a supervisor, it is started again if it ends without being killed: on a busy machine, one in
 * twenty aborts after it was stopped for seconds.
 */
async function run(options: ServerOptions): Promise<Run> {
  let running = launch(options);
  let isKilled = false;
  const supervise = async (): Promise<void> => {
    const { child, ended } = await running;
    await ended;
    if (isKilled) return;
    console.error(`the ClickHouse server ended (${child.signalCode ?? child.exitCode}) and is started again`);
    running = launch(options);
    await supervise();
  };
  await running;
  void supervise();
  return {
    kill: async () => {
      isKilled = true;
      const { child, ended } = await running;
      child.kill('SIGKILL');
      await ended;
    },
    signal: async (signal) => void (await running).child.kill(signal),
  };
}

/**
 * Returns once the server answers. It takes about a second, and 260 MB.
 *
 * @param others `path`: a folder that stays; without, a new one that goes with the server
 */
export async function startRealClickHouse(
  users: readonly User[] = [],
  { path: kept, ...others }: Partial<Pick<ServerOptions, 'tcpPort' | 'config' | 'path'>> = {},
): Promise<RealClickHouse> {
  const path = kept ?? makeFolder('clickhouse-real');
  const port = await freePort();
  const options: ServerOptions = { path, port, users: [...users], ...others };
  let running = await run(options);
  let isAnswering = true;
  return {
    url: ({ name, password } = ADMIN) => `http://${name}:${encodeURIComponent(password)}@127.0.0.1:${port}`,
    ask: (sql) => ask(port, ADMIN, sql),
    kill: () => {
      isAnswering = false;
      return running.kill();
    },
    start: async () => {
      running = await run(options);
      isAnswering = true;
    },
    hang: () => {
      isAnswering = false;
      return running.signal('SIGSTOP');
    },
    resume: async () => {
      await running.signal('SIGCONT');
      isAnswering = true;
    },
    get isAnswering() {
      return isAnswering;
    },
    stop: async () => {
      // What was acknowledged is on the disk, and a clean stop takes seconds.
      await running.kill();
      if (kept === undefined) rmSync(path, { recursive: true, force: true });
    },
  };
}
