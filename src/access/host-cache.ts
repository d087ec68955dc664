/**
 * What the repository host said about a token, remembered. Equal questions that come together share one request. A failed
 * request never replaces what the host did say before: that serves on until its own time is over.
 */
import type { Clock } from '../clock.ts';
import type { Unavailable } from './host-answer.ts';

/** Beyond this the oldest go, so that made-up tokens cannot fill the memory. */
const ENTRIES_MAX = 10_000;

interface Entry<T> {
  known?: { answer: T; askedAt: number };
  failed?: { answer: Unavailable; until: number };
  pending?: Promise<T | Unavailable>;
}

export class AnswerCache<T extends { kind: string }> {
  readonly #entries = new Map<string, Entry<T>>();

  constructor(
    private readonly clock: Clock,
    private readonly entriesMax = ENTRIES_MAX,
  ) {}

  /**
   * The answer under this key, from memory while it holds, else by asking. Throws what `ask` throws, and remembers nothing of it.
   *
   * @param holdsMs how long this answer serves the caller, counted from the moment at which it was asked for. Callers may
   *   differ: for one that it refuses, it holds shorter.
   */
  async get(
    key: string,
    ask: () => Promise<T | Unavailable>,
    holdsMs: (answer: T) => number,
  ): Promise<T | Unavailable> {
    const now = this.clock.now();
    const entry = this.#entries.get(key) ?? {};
    const { known, failed, pending } = entry;
    // A clock that was set back must not lengthen anything.
    if (known && known.askedAt <= now && now < known.askedAt + holdsMs(known.answer)) return known.answer;
    if (pending) return pending;
    if (failed && now < failed.until && failed.until <= now + failed.answer.retryAfterMs)
      return { ...failed.answer, retryAfterMs: failed.until - now };
    return this.#ask(key, entry, ask, now);
  }

  #ask(key: string, entry: Entry<T>, ask: () => Promise<T | Unavailable>, askedAt: number): Promise<T | Unavailable> {
    const settle = (answer: T | Unavailable): T | Unavailable => {
      if (isUnavailable(answer)) entry.failed = { answer, until: this.clock.now() + answer.retryAfterMs };
      else entry.known = { answer, askedAt };
      this.#forgetOldest();
      return answer;
    };
    const pending = ask()
      .then(settle)
      .finally(() => {
        delete entry.pending;
        // A question that was not put leaves nothing behind.
        if (!entry.known && !entry.failed && this.#entries.get(key) === entry) this.#entries.delete(key);
      });
    entry.pending = pending;
    // The newest question stands last, so that the first is the one to forget.
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return pending;
  }

  #forgetOldest(): void {
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= this.entriesMax) return;
      this.#entries.delete(oldest);
    }
  }
}

const isUnavailable = (answer: { kind: string }): answer is Unavailable => answer.kind === 'unavailable';
