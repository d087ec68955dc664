/** Bounds of one statement: time, memory, and a share of the connections. */
import { ReadRefused, StoreUnavailable } from '../errors.ts';
import type { Shares, Turn } from '../fair-queue.ts';
import { StatementRefused } from './trouble.ts';

/** Bounds of a read on behalf of a request. The slowest ordinary ones take 0.1 s on 10,000,000 executions. */
const READ_SECONDS_MAX = 10;
const READ_MEMORY_BYTES_MAX = 1024 ** 3;

/** Work of the service itself, such as an evaluation. */
const OWN_SECONDS_MAX = 25;
/** Verification and the like, which read whole months. */
const LONG_MS_MAX = 3_600_000;
/** A long one that has taken so much memory groups and sorts the rest on disk. */
const LONG_MEMORY_BYTES = 512 * 1024 ** 2;
const LONG = `SETTINGS max_bytes_before_external_group_by = ${LONG_MEMORY_BYTES}, max_bytes_before_external_sort = ${LONG_MEMORY_BYTES}`;
const PATIENT = 'max_threads = 1, priority = 10';
/** The engine looks at the time between blocks; after this it is taken to be gone. */
const GRACE_MS = 5_000;
/**
 * A heavy statement works in small blocks, because the engine stops it between two of them only: 512 names and 255
 * patterns take about 0.1 s.
 */
const HEAVY = 'max_threads = 1, max_block_size = 512, preferred_block_size_bytes = 65536';

/** The settings at the end of a SELECT, and after how long without an answer the store counts as gone. */
export function boundsOf(
  turn: Turn | undefined,
  { isLong, isPatient, isLookUp }: { isLong?: boolean; isPatient?: boolean; isLookUp?: boolean },
): { settings: string; limitMs: number } {
  if (isLong) return { settings: isPatient ? `${LONG}, ${PATIENT}` : LONG, limitMs: LONG_MS_MAX };
  if (!turn) {
    const settings = `SETTINGS max_execution_time = ${OWN_SECONDS_MAX}`;
    return { settings, limitMs: OWN_SECONDS_MAX * 1_000 + GRACE_MS };
  }
  const bounds = `SETTINGS max_execution_time = ${READ_SECONDS_MAX}, max_memory_usage = ${READ_MEMORY_BYTES_MAX}`;
  const threads = isLookUp ? `${bounds}, max_threads = 1` : bounds;
  return {
    settings: turn.isHeavy ? `${bounds}, ${HEAVY}` : threads,
    limitMs: READ_SECONDS_MAX * 1_000 + GRACE_MS,
  };
}

/**
 * Shares of a server. A process opens 16 connections: the inserts keep some, and an owner gets half of the rest.
 */
export const SERVER_SHARES: Shares = {
  atOnce: 12,
  atOncePerOwner: 6,
  heavyAtOnce: 4,
  heavyAtOncePerOwner: 2,
  waitingPerOwner: 200,
  waitMs: 5_000,
};

/**
 * Shares of the embedded engine, which runs statements on the threads of the runtime: as many as UV_THREADPOOL_SIZE says,
 * and `serve` sees to it that it does. A heavy statement must leave one of them free.
 */
export const EMBEDDED_SHARES: Shares = {
  atOnce: 4,
  atOncePerOwner: 2,
  heavyAtOnce: 1,
  heavyAtOncePerOwner: 1,
  waitingPerOwner: 200,
  waitMs: 5_000,
};

/** An error of a read on behalf of a request, as what its client can do about it. */
export function asRefusal(error: unknown): unknown {
  const cause = error instanceof StoreUnavailable ? error.cause : undefined;
  if (!(cause instanceof StatementRefused)) return error;
  const narrower = 'Ask for less (fewer or simpler names, a shorter window), or try again later.';
  if (cause.code === '159')
    return new ReadRefused('time', `The read took longer than ${READ_SECONDS_MAX} s and was stopped. ${narrower}`);
  if (cause.code === '241' && !cause.message.includes('(total)'))
    return new ReadRefused('memory', `The read needed more than 1 GiB of memory and was stopped. ${narrower}`);
  return error;
}
