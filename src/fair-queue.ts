/**
 * Who may read next. Each owner gets at most a share of the connections, so that one who asks for too much does not slow
 * down the others. Those who wait are served in turn, owner by owner. Searches that match many patterns have a smaller
 * share, so that they do not slow down other reads of their owner either. Waiting is bounded, in number and in time.
 */
import { ReadRefused } from './errors.ts';

export interface Shares {
  /** Statements that run at once: of all owners, and of one. */
  atOnce: number;
  atOncePerOwner: number;
  /** Heavy ones among them. */
  heavyAtOnce: number;
  heavyAtOncePerOwner: number;
  waitingPerOwner: number;
  waitMs: number;
}

/** On whose behalf a statement runs. */
export interface Turn {
  /** Owner of the repository that is read. */
  owner: string;
  /** Takes seconds, where others take milliseconds. */
  isHeavy?: boolean | undefined;
  /** Aborted when the answer is no longer waited for. */
  signal?: AbortSignal | undefined;
}

interface Waiter {
  isHeavy: boolean;
  admit(): void;
}

interface Running {
  all: number;
  heavy: number;
}

export class FairQueue {
  /** In the order in which owners have their turns. */
  readonly #waiting = new Map<string, Waiter[]>();
  readonly #running = new Map<string, Running>();
  readonly #total: Running = { all: 0, heavy: 0 };

  constructor(private readonly shares: Shares) {}

  /**
   * Resolves when the statement may run, with the function to call when it has ended. Rejects with {@link ReadRefused}
   * if too many wait, or it has waited too long, and with the signal's reason.
   */
  async take({ owner, isHeavy = false, signal }: Turn): Promise<() => void> {
    signal?.throwIfAborted();
    const key = owner.toLowerCase();
    const waiting = this.#waiting.get(key) ?? [];
    if (waiting.length >= this.shares.waitingPerOwner) throw busy(owner);
    await new Promise<void>((resolve, reject) => {
      const leave = (reason: unknown): void => {
        this.#remove(key, waiter);
        signal?.removeEventListener('abort', abort);
        clearTimeout(timer);
        reject(reason);
      };
      const abort = (): void => leave(signal?.reason);
      const timer = setTimeout(() => leave(busy(owner)), this.shares.waitMs);
      const waiter: Waiter = {
        isHeavy,
        admit: () => {
          signal?.removeEventListener('abort', abort);
          clearTimeout(timer);
          resolve();
        },
      };
      signal?.addEventListener('abort', abort, { once: true });
      this.#waiting.set(key, [...waiting, waiter]);
      this.#admitNext();
    });
    return () => {
      this.#count(key, isHeavy, -1);
      this.#admitNext();
    };
  }

  #admitNext(): void {
    for (let next = this.#next(); next; next = this.#next()) {
      const { owner, waiter } = next;
      this.#remove(owner, waiter);
      // The next turn is another owner's.
      const rest = this.#waiting.get(owner);
      if (rest) {
        this.#waiting.delete(owner);
        this.#waiting.set(owner, rest);
      }
      this.#count(owner, waiter.isHeavy, 1);
      waiter.admit();
    }
  }

  #next(): { owner: string; waiter: Waiter } | undefined {
    if (this.#total.all >= this.shares.atOnce) return undefined;
    for (const [owner, waiters] of this.#waiting) {
      const waiter = waiters.find(({ isHeavy }) => this.#fits(owner, isHeavy));
      if (waiter) return { owner, waiter };
    }
    return undefined;
  }

  #fits(owner: string, isHeavy: boolean): boolean {
    const { all, heavy } = this.#running.get(owner) ?? { all: 0, heavy: 0 };
    if (all >= this.shares.atOncePerOwner) return false;
    return !isHeavy || (heavy < this.shares.heavyAtOncePerOwner && this.#total.heavy < this.shares.heavyAtOnce);
  }

  #count(owner: string, isHeavy: boolean, by: 1 | -1): void {
    const running = this.#running.get(owner) ?? { all: 0, heavy: 0 };
    for (const counts of [running, this.#total]) {
      counts.all += by;
      if (isHeavy) counts.heavy += by;
    }
    if (running.all === 0) this.#running.delete(owner);
    else this.#running.set(owner, running);
  }

  #remove(owner: string, waiter: Waiter): void {
    const rest = (this.#waiting.get(owner) ?? []).filter((other) => other !== waiter);
    if (rest.length === 0) this.#waiting.delete(owner);
    else this.#waiting.set(owner, rest);
  }
}

const busy = (owner: string): ReadRefused =>
  new ReadRefused(
    'busy',
    `Too many reads of ${owner} are running or waiting. Send fewer at once, and try again in a few seconds.`,
  );
