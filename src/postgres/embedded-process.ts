/**
 * Processes of the embedded PostgreSQL, which refuses to run as root. If the service runs as root, they have a uid that
 * no account has and nothing else uses, so that nothing else can read what is theirs. If that uid cannot reach the data
 * folder or the binaries (a clone under /root, a 0700 temporary folder), they keep a capability that lets them read
 * past directory modes.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync, readlinkSync, realpathSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isRunning } from '../processes.ts';

/** Distributions assign none of 65520 to 65533 (systemd.io/UIDS-GIDS), and a container has them, too. */
const OWN_UID = 65_521;
/** "nobody" on every Linux: initdb wants a user with a name. */
const NAMED_UID = 65_534;
const STOP_TIMEOUT_MS = 20_000;

const isRoot = (): boolean => process.getuid?.() === 0;
/** The user of the server and its files; undefined if it runs as the user of the service. */
export const ownUid = (): number | undefined => (isRoot() ? OWN_UID : undefined);
/** The user for initdb. */
export const namedUid = (): number | undefined => (isRoot() ? NAMED_UID : undefined);

export interface Launched {
  process: ChildProcess;
  /** Everything printed so far, for the error message. */
  output(): string;
}

/** Runs a PostgreSQL program in a separate session, so that Ctrl-C reaches only this process. */
export function launch(program: string, args: string[], folder: string, uid = ownUid()): Launched {
  let output = '';
  const keepsReach = uid !== undefined && !(isReachable(program) && isReachable(folder));
  const [command, prefix] = keepsReach ? ['setpriv', [...dropButReach(uid), program]] : [program, []];
  const child = spawn(command, [...prefix, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
    cwd: '/',
    env: { PATH: SYSTEM_PATH, LC_ALL: 'C', TZ: 'UTC' },
    ...(uid !== undefined && !keepsReach ? { uid, gid: uid } : {}),
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

/** Runs a program to its end and returns its exit code. */
export const ended = ({ process }: Launched): Promise<number | null> =>
  new Promise((done) => {
    process.once('close', done);
    process.once('error', () => done(null));
  });

const SYSTEM_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** For setpriv: another uid and no capability except CAP_DAC_READ_SEARCH, which access(2) must honour too. */
const dropButReach = (uid: number): string[] => [
  `--reuid=${uid}`,
  `--regid=${uid}`,
  '--clear-groups',
  '--inh-caps=+dac_read_search',
  '--ambient-caps=+dac_read_search',
  '--securebits=+no_setuid_fixup',
];

/** Whether every user can pass through all folders above the path. */
function isReachable(path: string): boolean {
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    if ((statSync(folder).mode & 0o001) === 0) return false;
    if (folder === dirname(folder)) return true;
  }
}

/** The server named by `postmaster.pid`, if it is running on that folder. */
export function runningServer(folder: string): { pid: number; socketFolder: string } | undefined {
  const lines = linesOf(join(folder, 'postmaster.pid'));
  const pid = Number(lines?.[0]);
  return pid > 0 && isServer(pid, folder) ? { pid, socketFolder: lines?.[4] ?? '' } : undefined;
}

/**
 * Call it before a start, if no server is running. PostgreSQL refuses to start while the pid in one of its lock files
 * exists, though it may be a zombie's, or another process's since the machine was restarted. It ignores the pid of its
 * parent: ours. The other lines stay, because they tell PostgreSQL whether old backends still use the shared memory.
 */
export function disownLockFiles(folder: string): void {
  for (const name of ['postmaster.pid', '.s.PGSQL.5432.lock']) {
    const file = join(folder, name);
    const lines = linesOf(file);
    if (lines) writeFileSync(file, [process.pid, ...lines.slice(1)].join('\n'));
  }
}

const linesOf = (file: string): string[] | undefined =>
  existsSync(file) ? readFileSync(file, 'utf8').split('\n') : undefined;

/** The pid may belong to another process by now. On Linux, its name and its working folder tell. */
function isServer(pid: number, folder: string): boolean {
  if (!isRunning(pid)) return false;
  if (!existsSync(`/proc/${pid}`)) return true;
  try {
    return (
      readFileSync(`/proc/${pid}/comm`, 'utf8').startsWith('postgres') &&
      readlinkSync(`/proc/${pid}/cwd`) === realpathSync(folder)
    );
  } catch {
    return false;
  }
}

/**
 * First PostgreSQL's smart shutdown (SIGTERM), which waits for connections that are just closing, then its fast
 * shutdown (SIGINT), which ends them. Both write a checkpoint, so the next start has nothing to recover.
 */
export async function stopServer(pid: number): Promise<void> {
  for (const [signal, waitMs] of [
    ['SIGTERM', 1_000],
    ['SIGINT', STOP_TIMEOUT_MS],
    ['SIGQUIT', 1_000],
  ] as const) {
    if (!isRunning(pid)) return;
    process.kill(pid, signal);
    for (const until = performance.now() + waitMs; performance.now() < until; ) {
      if (!isRunning(pid)) return;
      await sleep(10);
    }
  }
}
