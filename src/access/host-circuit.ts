/**
 * Spares a host that is down, and the callers that would wait for it.
 *
 * closed —{@link FAILURES_MAX} failures in a row→ open —{@link OPEN_MS}→ half open: one request is tried —it works→ closed,
 * —it fails→ open again. While it is open nobody gets an answer: it never fails open.
 */
import type { Clock } from '../clock.ts';

const FAILURES_MAX = 5;
/** How long a host that failed is left alone. */
const OPEN_MS = 15_000;
/** While the one request is tried, the others come back soon. */
const TRIAL_WAIT_MS = 1_000;

export class Circuit {
  #failures = 0;
  #openedAt: number | undefined;
  #isTrying = false;

  /** @param onChange told when it opens and when it closes. */
  constructor(
    private readonly clock: Clock,
    private readonly onChange: (isOpen: boolean) => void,
  ) {}

  /** Runs `ask`, unless the host is to be left alone: then it says for how long, in milliseconds. */
  async run<T>(ask: () => Promise<T>, hasFailed: (result: T) => boolean): Promise<{ result: T } | { waitMs: number }> {
    const waitMs = this.#waitMs();
    if (waitMs > 0) return { waitMs };
    const isTrial = this.#openedAt !== undefined;
    this.#isTrying = isTrial;
    try {
      const result = await ask();
      if (hasFailed(result)) this.#fail(isTrial);
      else this.#succeed();
      return { result };
    } finally {
      if (isTrial) this.#isTrying = false;
    }
  }

  #waitMs(): number {
    if (this.#openedAt === undefined) return 0;
    const openForMs = this.clock.now() - this.#openedAt;
    // Below zero when the clock was set back: then it is tried now.
    if (openForMs >= 0 && openForMs < OPEN_MS) return OPEN_MS - openForMs;
    return this.#isTrying ? TRIAL_WAIT_MS : 0;
  }

  #succeed(): void {
    this.#failures = 0;
    if (this.#openedAt === undefined) return;
    this.#openedAt = undefined;
    this.onChange(false);
  }

  #fail(isTrial: boolean): void {
    this.#failures++;
    // What was under way when it opened says nothing new, and must not keep it open for longer.
    if (isTrial) this.#openedAt = this.clock.now();
    else if (this.#openedAt === undefined && this.#failures >= FAILURES_MAX) {
      this.#openedAt = this.clock.now();
      this.onChange(true);
    }
  }
}
