/**
 * Allows one service per data folder, because embedded stores belong to one process.
 *
 * The lock is SQLite's lock on an empty database. The kernel holds it for the process and releases it when the process
 * ends, however it ends. A pid in a file cannot do that: the pid of a killed process remains until its parent collects
 * it, and means another process in another container.
 */
import { Database } from 'bun:sqlite';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { UserError } from './errors.ts';

const LOCK_FILE = 'service-lock.sqlite';
/** Names the process, for messages. */
const NAME_FILE = 'service.lock';
/** Where the process that holds the lock answers requests. */
const ADDRESS_FILE = 'service.url';

/** A killed process holds its files until its memory is freed. */
const WAIT_MS = 2_000;
const RETRY_MS = 50;

/** The pid of the process that holds this folder, or undefined; 0 if it is not known. */
export function lockHolder(dataDir: string): number | undefined {
  if (!existsSync(dataDir)) return undefined;
  const unlock = tryLock(dataDir);
  if (!unlock) return namedPid(dataDir);
  unlock();
  return undefined;
}

/**
 * Locks the folder for this process and returns a function that unlocks it. Throws a {@link UserError} if another holds
 * it.
 */
export async function lockDataDir(dataDir: string): Promise<() => void> {
  // If we are root, the embedded PostgreSQL runs as another user, who must be able to pass through.
  mkdirSync(dataDir, { recursive: true, mode: process.getuid?.() === 0 ? 0o711 : 0o700 });
  for (const until = performance.now() + WAIT_MS; performance.now() < until; await Bun.sleep(RETRY_MS)) {
    const unlock = tryLock(dataDir);
    if (!unlock) continue;
    const file = join(dataDir, NAME_FILE);
    for (const left of [file, join(dataDir, ADDRESS_FILE)]) rmSync(left, { force: true });
    writeFileSync(file, String(process.pid), { mode: 0o600 });
    return () => {
      rmSync(file, { force: true });
      unlock();
    };
  }
  throw new UserError(
    `Another ci-insights (process ${namedPid(dataDir)}) uses ${dataDir}, and its embedded stores belong to one process. Stop it first, or set another DATA_DIR.`,
  );
}

/** Records where the service answers, for commands that find its lock. Only the holder of the lock may call it. */
export const announceAddress = (dataDir: string, url: string): void =>
  writeFileSync(join(dataDir, ADDRESS_FILE), url, { mode: 0o600 });

/** Where the service answers that holds the lock; undefined if none holds it, or it does not answer yet. */
export function announcedAddress(dataDir: string): string | undefined {
  const file = join(dataDir, ADDRESS_FILE);
  if (lockHolder(dataDir) === undefined || !existsSync(file)) return undefined;
  return readFileSync(file, 'utf8');
}

/** Returns what releases the lock, or undefined if it is taken. */
function tryLock(dataDir: string): (() => void) | undefined {
  const file = join(dataDir, LOCK_FILE);
  const database = new Database(file);
  try {
    chmodSync(file, 0o600);
    database.run('BEGIN EXCLUSIVE');
    return () => database.close();
  } catch (error) {
    database.close();
    if (error instanceof Error && 'code' in error && error.code === 'SQLITE_BUSY') return undefined;
    throw error;
  }
}

/** 0 while the process that holds the lock has not written it down. */
function namedPid(dataDir: string): number {
  const file = join(dataDir, NAME_FILE);
  return existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0;
}
