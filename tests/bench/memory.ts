/** Memory of the processes of a service together, and of each kind of them: from /proc. */
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

/** Patterns of commands: the first that matches says of which kind a process is. */
export type Kinds<Kind extends string> = Readonly<Record<Kind, RegExp>>;

export const SAMPLE_MS = 1_000;

const kindAmong = <Kind extends string>(kinds: Kinds<Kind>, command: string): Kind | 'other' => {
  for (const kind in kinds) if (kinds[kind].test(command)) return kind;
  return 'other';
};
export const kindOf = (command: string): ProcessKind => kindAmong(KINDS, command);

export const memoryOf = (root: number): Promise<Memory> => memoryOfKinds(root, KINDS);

/**
 * Bytes of each kind of process. What several processes share (files that are mapped, such as the program itself, and
 * PostgreSQL's buffers) is counted once, with the one that has most of it. The kernel keeps these numbers: adding up the
 * pages of each process, which is exact, took a thirtieth of both processors at one sample a second.
 */
export async function memoryOfKinds<Kind extends string>(
  root: number,
  kinds: Kinds<Kind>,
): Promise<Partial<Record<Kind | 'other', number>>> {
  const memory: Partial<Record<Kind | 'other', number>> = {};
  const add = (kind: Kind | 'other', bytes: number): void => {
    memory[kind] = (memory[kind] ?? 0) + bytes;
  };
  const shared = new Map<string, { kind: Kind | 'other'; bytes: number }>();
  for (const { pid, command } of processTree(root)) {
    const kind = kindAmong(kinds, command);
    const { own, mapped } = await pagesOf(pid);
    add(kind, own);
    // PostgreSQL is one program, and all other processes are the runtime.
    const program = kind === 'postgres' ? kind : 'runtime';
    if (mapped > (shared.get(program)?.bytes ?? 0)) shared.set(program, { kind, bytes: mapped });
  }
  for (const { kind, bytes } of shared.values()) add(kind, bytes);
  return memory;
}

/** Processor seconds until now of each kind of process. */
export function processorSecondsOf<Kind extends string>(
  root: number,
  kinds: Kinds<Kind>,
): Partial<Record<Kind | 'other', number>> {
  const seconds: Partial<Record<Kind | 'other', number>> = {};
  for (const { command, cpuSeconds } of processTree(root)) {
    const kind = kindAmong(kinds, command);
    seconds[kind] = (seconds[kind] ?? 0) + cpuSeconds;
  }
  return seconds;
}

async function pagesOf(pid: number): Promise<{ own: number; mapped: number }> {
  const status = await readFile(`/proc/${pid}/status`, 'latin1').catch(() => '');
  const bytesOf = (name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0) * 1_024;
  return { own: bytesOf('RssAnon'), mapped: bytesOf('RssFile') + bytesOf('RssShmem') };
}

export const totalOf = (memory: Memory): number => Object.values(memory).reduce((sum, bytes) => sum + bytes, 0);

/** The one in the middle, by what all processes took together; nothing of none. */
export const medianOf = (samples: readonly Memory[]): Memory =>
  samples.toSorted((one, other) => totalOf(one) - totalOf(other))[Math.floor(samples.length / 2)] ?? {};

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
