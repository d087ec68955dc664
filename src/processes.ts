/** Asks the system about processes, and for changes of them. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';

/** Not if its parent has not collected it yet (a zombie): that one holds nothing any more. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    const stat = `/proc/${pid}/stat`;
    if (!existsSync(stat)) return true;
    // The command's name is in parentheses and may contain spaces. The state comes next.
    const state = readFileSync(stat, 'utf8').replace(/^.*\)/s, '').trim().charAt(0);
    return state !== 'Z' && state !== 'X';
  } catch {
    return false;
  }
}

/**
 * How much each part of the service yields to those before it, where they compete for processors: the API, then workers
 * with the embedded ClickHouse and what the embedded PostgreSQL does for them, then parsers.
 */
export const NICENESS = { workers: 5, parsers: 10 } as const;

/** Lets a process that was just started yield to others. Only a preference: not everywhere allowed. */
export function yieldProcess(pid: number, niceness: number): void {
  try {
    setPriority(pid, niceness);
  } catch {
    // The priority stays as it was.
  }
}

/** Lets this process yield. On Linux, priorities belong to threads, and new ones have that of the one that made them. */
export function yieldThisProcess(niceness: number): void {
  const threads = existsSync(OWN_THREADS) ? readdirSync(OWN_THREADS).map(Number) : [process.pid];
  for (const thread of threads) yieldProcess(thread, niceness);
}

/**
 * Lets the kernel end a process that was just started before any other, when its container or the machine has no memory
 * left.
 */
export function offerProcess(pid: number): void {
  try {
    writeFileSync(`/proc/${pid}/oom_score_adj`, '1000');
  } catch {
    // Only Linux has it, and the process may have ended.
  }
}

const OWN_THREADS = '/proc/self/task';
