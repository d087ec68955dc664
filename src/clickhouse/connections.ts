/**
 * The connections of one kind of statement, and what becomes of a statement that is no longer waited for.
 *
 * It is killed over another connection. Over HTTP, closing the connection would not be enough: a server continues
 * unless the user is read-only. The embedded engine continues in any case, and its connection runs one statement at a
 * time, so a connection counts as busy until the engine has really ended.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ClickHouseClient } from '@clickhouse/client';
import { StoreUnavailable } from '../errors.ts';
import { classified, isDropped, NoAnswer } from './trouble.ts';

/** Runs a statement on a connection, with the signal for those that can be closed while a statement runs. */
type Run<T> = (client: ClickHouseClient, abort: { abort_signal?: AbortSignal }) => Promise<T>;

export interface Limits {
  /** Without an answer for so long, the store counts as gone. */
  limitMs: number;
  signal?: AbortSignal | undefined;
  /** Ends the statement in the engine. Undefined for statements that must not be ended halfway. */
  kill?: (() => Promise<void>) | undefined;
  /** Called when the engine has ended the statement, which may be after its caller has gone; and if it never began. */
  onEnded?: (() => void) | undefined;
}

export interface Connections {
  /** Throws {@link StoreUnavailable} when there is no answer in time, and the signal's reason when it is aborted. */
  run<T>(limits: Limits, run: Run<T>): Promise<T>;
  /** The same, once more if the connection breaks: for what may run twice. */
  repeatable<T>(limits: Limits, run: Run<T>): Promise<T>;
}

interface Connection {
  client: ClickHouseClient;
  busy: number;
}

/** A statement that has just been sent cannot be killed yet, so it is tried again. */
const KILLS_MIN = 3;
const KILL_PAUSE_MS = 200;
const KILL_PAUSE_MS_MAX = 5_000;

/** @param isOverHttp whether a statement can be abandoned by closing its connection */
export function connectionsOf(clients: readonly ClickHouseClient[], isOverHttp: boolean): Connections {
  const connections: readonly Connection[] = clients.map((client) => ({ client, busy: 0 }));
  let turns = 0;

  /** The least busy connection; round-robin among equals. */
  const choose = (): Connection => {
    turns++;
    const ordered = connections.map((_, i) => connections[(i + turns) % connections.length] as Connection);
    return ordered.reduce((least, other) => (other.busy < least.busy ? other : least));
  };

  async function run<T>({ limitMs, signal, kill, onEnded }: Limits, statement: Run<T>): Promise<T> {
    if (signal?.aborted) {
      onEnded?.();
      throw signal.reason;
    }
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), limitMs);
    const ended = signal ? AbortSignal.any([late.signal, signal]) : late.signal;
    const connection = choose();
    connection.busy++;
    let isRunning = true;
    const running = statement(connection.client, isOverHttp || !kill ? { abort_signal: ended } : {}).finally(() => {
      isRunning = false;
      connection.busy--;
      onEnded?.();
    });
    const abandoned = aborted(ended);
    try {
      return await Promise.race([running, abandoned.promise]);
    } catch (error) {
      // The outcome is no longer waited for.
      running.catch(() => {});
      if (ended.aborted && kill) void killWhile(() => isRunning, kill);
      signal?.throwIfAborted();
      if (late.signal.aborted) throw new StoreUnavailable('clickhouse', new NoAnswer(limitMs, error));
      throw classified(error, isOverHttp);
    } finally {
      clearTimeout(timer);
      abandoned.forget();
    }
  }

  return {
    run,
    repeatable: async (limits, statement) => {
      try {
        return await run(limits, statement);
      } catch (error) {
        if (!(error instanceof StoreUnavailable) || !isDropped(error.cause)) throw error;
        return await run(limits, statement);
      }
    },
  };
}

/** A promise that rejects with the signal's reason. */
function aborted(signal: AbortSignal): { promise: Promise<never>; forget: () => void } {
  let abort = (): void => {};
  const promise = new Promise<never>((_, reject) => {
    abort = () => reject(signal.reason);
  });
  signal.addEventListener('abort', abort, { once: true });
  return { promise, forget: () => signal.removeEventListener('abort', abort) };
}

/**
 * Over HTTP it is not known when the statement has ended. Errors are left out: it ends by its own limit of time as well.
 */
async function killWhile(isRunning: () => boolean, kill: () => Promise<void>): Promise<void> {
  let pauseMs = KILL_PAUSE_MS;
  for (let kills = 0; kills < KILLS_MIN || isRunning(); kills++) {
    await kill().catch(() => {});
    await sleep(pauseMs, undefined, { ref: false });
    pauseMs = Math.min(2 * pauseMs, KILL_PAUSE_MS_MAX);
  }
}
