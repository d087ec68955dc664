/**
 * The answers of the repository host about a token, kept for a while. Identical questions at the same time share one
 * request. A failed request never replaces an earlier answer of the host: that one serves until its own time is over.
 */
import { LRUCache } from 'lru-cache';
import type { Clock } from '../clock.ts';
import type { Unavailable } from '../hosts/api/answer.ts';

/** Beyond this the entries that were not used for longest leave, so that made-up tokens cannot fill the memory. */
const ENTRIES_MAX = 10_000;

interface Entry<T> {
  known?: { answer: T; askedAt: number };
  failed?: { answer: Unavailable; until: number };
}

/** No time to live of the cache's: how long an answer holds depends on the caller. */
export class AnswerCache<T extends { kind: string }> {
  readonly #entries: LRUCache<string, Entry<T>>;
  readonly #pending = new Map<string, Promise<T | Unavailable>>();

  constructor(
    private readonly clock: Clock,
    entriesMax = ENTRIES_MAX,
  ) {
    this.#entries = new LRUCache({ max: entriesMax });
  }

  /**
   * The answer under this key: from memory while it holds, otherwise by asking. Throws what `ask` throws, and keeps
   * nothing of it.
   *
   * @param holdsMs how long this answer serves the caller, counted from when the question was asked. Callers may
   *   differ: an answer that makes one of them refuse holds for a shorter time
   */
  async get(
    key: string,
    ask: () => Promise<T | Unavailable>,
    holdsMs: (answer: T) => number,
  ): Promise<T | Unavailable> {
    const now = this.clock.now();
    const { known, failed } = this.#entries.get(key) ?? {};
    // A clock that was set back must not make anything hold for longer.
    if (known && known.askedAt <= now && now < known.askedAt + holdsMs(known.answer)) return known.answer;
    const pending = this.#pending.get(key);
    if (pending) return pending;
    if (failed && now < failed.until && failed.until <= now + failed.answer.retryAfterMs)
      return { ...failed.answer, retryAfterMs: failed.until - now };
    const asked = this.#ask(key, ask, now).finally(() => this.#pending.delete(key));
    this.#pending.set(key, asked);
    return asked;
  }

  async #ask(key: string, ask: () => Promise<T | Unavailable>, askedAt: number): Promise<T | Unavailable> {
    const answer = await ask();
    const entry = isUnavailable(answer)
      ? { ...this.#entries.get(key), failed: { answer, until: this.clock.now() + answer.retryAfterMs } }
      : { ...this.#entries.get(key), known: { answer, askedAt } };
    this.#entries.set(key, entry);
    return answer;
  }
}

const isUnavailable = (answer: { kind: string }): answer is Unavailable => answer.kind === 'unavailable';
