/** CPU time and memory of a process and everything below it, from /proc: for the service with its embedded PostgreSQL. */
import { readdirSync, readFileSync } from 'node:fs';

interface ProcessFigures {
  pid: number;
  parent: number;
  command: string;
  /** Time of itself and of its children that have ended, in seconds. */
  cpuSeconds: number;
  residentBytes: number;
  /** How much it yields to others: from -20 to 19. */
  niceness: number;
}

const TICKS_PER_SECOND = 100;
const PAGE_BYTES = 4096;

function figuresOf(pid: number): ProcessFigures | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const number = (index: number): number => Number(fields[index]);
    return {
      pid,
      parent: number(1),
      command: readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' '),
      cpuSeconds: (number(11) + number(12) + number(13) + number(14)) / TICKS_PER_SECOND,
      residentBytes: number(21) * PAGE_BYTES,
      niceness: number(16),
    };
  } catch {
    return undefined;
  }
}

/** The process and its descendants. */
export function processTree(root: number): ProcessFigures[] {
  const all = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => figuresOf(Number(name)) ?? []);
  const tree = all.filter(({ pid }) => pid === root);
  for (const { pid } of tree) tree.push(...all.filter(({ parent }) => parent === pid));
  return tree;
}
