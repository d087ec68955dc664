/** What the processes of a service take in memory together, and each kind of them: from /proc. */
import { readFile } from 'node:fs/promises';
import { processTree } from '../support/process-tree.ts';

const KINDS = {
  /** The embedded ClickHouse. */
  engine: / serve/,
  /** Queue, ledger, evaluation. */
  workers: /workers\/process/,
  api: /src\/api\/process/,
  parsing: /src\/ingest\/parsing\/process/,
  postgres: /postgres/,
} as const;
export type ProcessKind = keyof typeof KINDS | 'other';
export type Memory = Partial<Record<ProcessKind, number>>;

const SAMPLE_MS = 1_000;

export const kindOf = (command: string): ProcessKind =>
  (Object.keys(KINDS) as (keyof typeof KINDS)[]).find((kind) => KINDS[kind].test(command)) ?? 'other';

/**
 * Bytes of each kind of process. Memory that several processes share is counted once, in parts. The kernel takes up to
 * 200 ms to add them up: not on the event loop of who measures how long answers take.
 */
export async function memoryOf(root: number): Promise<Memory> {
  const memory: Memory = {};
  for (const { pid, command, residentBytes } of processTree(root)) {
    const kind = kindOf(command);
    memory[kind] = (memory[kind] ?? 0) + ((await proportionalBytes(pid)) ?? residentBytes);
  }
  return memory;
}

async function proportionalBytes(pid: number): Promise<number | undefined> {
  const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'latin1').catch(() => '');
  const kilobytes = /^Pss: +(\d+) kB/m.exec(rollup)?.[1];
  return kilobytes === undefined ? undefined : Number(kilobytes) * 1_024;
}

export const totalOf = (memory: Memory): number => Object.values(memory).reduce((sum, bytes) => sum + bytes, 0);

/** Watches until it is stopped; returns the moment at which the service took most. */
export function watchMemory(root: number): () => Promise<Memory> {
  let isWatching = true;
  const watched = (async () => {
    let most: Memory = {};
    for (; isWatching; await Bun.sleep(SAMPLE_MS)) {
      const now = await memoryOf(root);
      if (totalOf(now) > totalOf(most)) most = now;
    }
    return most;
  })();
  return () => {
    isWatching = false;
    return watched;
  };
}
