/** What the processes of a service take in memory together, and each kind of them: from /proc. */
import { readFileSync } from 'node:fs';
import { processTree } from '../support/process-tree.ts';

const KINDS = {
  /** Queue, ledger, evaluation, embedded ClickHouse. */
  workers: / serve/,
  api: /src\/api\/process/,
  parsing: /src\/ingest\/parsing\/process/,
  postgres: /postgres/,
} as const;
export type ProcessKind = keyof typeof KINDS | 'other';
export type Memory = Partial<Record<ProcessKind, number>>;

const SAMPLE_MS = 500;

export const kindOf = (command: string): ProcessKind =>
  (Object.keys(KINDS) as (keyof typeof KINDS)[]).find((kind) => KINDS[kind].test(command)) ?? 'other';

/** Bytes of each kind of process. Memory that several processes share is counted once, in parts. */
export function memoryOf(root: number): Memory {
  const memory: Memory = {};
  for (const { pid, command, residentBytes } of processTree(root)) {
    const kind = kindOf(command);
    memory[kind] = (memory[kind] ?? 0) + (proportionalBytes(pid) ?? residentBytes);
  }
  return memory;
}

function proportionalBytes(pid: number): number | undefined {
  try {
    const kilobytes = /^Pss: +(\d+) kB/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'latin1'))?.[1];
    return kilobytes === undefined ? undefined : Number(kilobytes) * 1_024;
  } catch {
    return undefined;
  }
}

export const totalOf = (memory: Memory): number => Object.values(memory).reduce((sum, bytes) => sum + bytes, 0);

/** Watches until it is stopped; returns the moment at which the service took most. */
export function watchMemory(root: number): () => Memory {
  let most = memoryOf(root);
  const timer = setInterval(() => {
    const now = memoryOf(root);
    if (totalOf(now) > totalOf(most)) most = now;
  }, SAMPLE_MS);
  return () => {
    clearInterval(timer);
    return most;
  };
}
