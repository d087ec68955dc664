/** What the system says about other processes. */
import { existsSync, readFileSync } from 'node:fs';

/**
 * When a process that is running was started: tells it from a later one with the same pid. Undefined if it has ended,
 * also if its parent has not collected it yet (a zombie): that one holds nothing any more.
 */
export function startTimeOf(pid: number): string | undefined {
  try {
    process.kill(pid, 0);
    const stat = `/proc/${pid}/stat`;
    if (!existsSync(stat)) return 'alive';
    // The command's name is in parentheses and may contain spaces. The state comes next, the start time 19 fields later.
    const fields = readFileSync(stat, 'utf8').replace(/^.*\)/s, '').trim().split(' ');
    return fields[0] === 'Z' || fields[0] === 'X' ? undefined : fields[19];
  } catch {
    return undefined;
  }
}

export const isRunning = (pid: number): boolean => startTimeOf(pid) !== undefined;
