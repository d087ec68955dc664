/** Allows one service per data folder, because embedded stores belong to one process. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { UserError } from './errors.ts';

const FILE = 'service.lock';

/** The live process that holds this folder, or undefined. */
export function lockHolder(dataDir: string): number | undefined {
  const file = join(dataDir, FILE);
  if (!existsSync(file)) return undefined;
  const [pid, startedAt] = readFileSync(file, 'utf8').split(' ');
  return Number(pid) > 0 && startTimeOf(Number(pid)) === startedAt ? Number(pid) : undefined;
}

/**
 * Locks the folder for this process and returns a function that unlocks it. Throws a {@link UserError} if another holds
 * it.
 */
export function lockDataDir(dataDir: string): () => void {
  mkdirSync(dataDir, { recursive: true });
  const file = join(dataDir, FILE);
  const holder = lockHolder(dataDir);
  if (holder !== undefined)
    throw new UserError(
      `Another ci-insights (process ${holder}) uses ${dataDir}, and its embedded stores belong to one process. Stop it first, or set another DATA_DIR.`,
    );
  rmSync(file, { force: true });
  writeFileSync(file, `${process.pid} ${startTimeOf(process.pid)}`, { flag: 'wx' });
  return () => rmSync(file, { force: true });
}

/** When a process was started, according to the system: tells it from a later one with the same pid. */
function startTimeOf(pid: number): string | undefined {
  try {
    process.kill(pid, 0);
    const stat = `/proc/${pid}/stat`;
    if (!existsSync(stat)) return 'alive';
    // The command's name is in parentheses and may contain spaces; the start time is the 20th field after it.
    return readFileSync(stat, 'utf8').replace(/^.*\)/s, '').trim().split(' ')[19];
  } catch {
    return undefined;
  }
}
