/** One service a data folder: the embedded stores belong to one process. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { UserError } from './errors.ts';

const FILE = 'service.lock';

/** The process that serves from this folder, if it is alive. */
export function lockHolder(dataDir: string): number | undefined {
  const file = join(dataDir, FILE);
  if (!existsSync(file)) return undefined;
  const [pid, startedAt] = readFileSync(file, 'utf8').split(' ');
  return Number(pid) > 0 && startTimeOf(Number(pid)) === startedAt ? Number(pid) : undefined;
}

/** Takes the folder for this process and returns what gives it back. Throws a {@link UserError} when another has it. */
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

/** When a process was started, as its system tells; distinguishes it from a later one of the same number. */
function startTimeOf(pid: number): string | undefined {
  try {
    process.kill(pid, 0);
    const stat = `/proc/${pid}/stat`;
    if (!existsSync(stat)) return 'alive';
    // The command's name stands in brackets and may hold spaces; the start time is the 20th field after it.
    return readFileSync(stat, 'utf8').replace(/^.*\)/s, '').trim().split(' ')[19];
  } catch {
    return undefined;
  }
}
