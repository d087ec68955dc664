/**
 * Circuit breaker for the repository host: it spares a host that is down, and the callers that would wait for it.
 *
 * closed —{@link FAILURES_MAX} failures in a row→ open —{@link OPEN_MS}→ half open: one request is tried —it works→
 * closed, —it fails→ open again. While it is open every caller is refused at once: it never fails open.
 *
 * cockatiel counts and keeps the state. The time is counted here, because cockatiel reads `Date.now()`: our clock can
 * be shifted by tests, a clock that is set back must not keep the circuit open for longer, and callers are told how
 * long to wait.
 */
import {
  type CircuitBreakerPolicy,
  CircuitState,
  ConsecutiveBreaker,
  circuitBreaker,
  handleWhenResult,
} from 'cockatiel';
import type { Clock } from '../clock.ts';

const FAILURES_MAX = 5;
/** How long a host that failed is left alone. */
const OPEN_MS = 15_000;
/**
 * While the one request is tried, the others are told to come back soon. cockatiel would let them wait for its outcome.
 */
const TRIAL_WAIT_MS = 1_000;

export class Circuit {
  readonly #breaker: CircuitBreakerPolicy;
  readonly #clock: Clock;
  #openedAt: number | undefined;

  /**
   * @param isFailure whether an answer counts against the host
   * @param onChange called when the circuit opens and when it closes
   */
  constructor(clock: Clock, isFailure: (answer: unknown) => boolean, onChange: (isOpen: boolean) => void) {
    this.#clock = clock;
    this.#breaker = circuitBreaker(handleWhenResult(isFailure), {
      breaker: new ConsecutiveBreaker(FAILURES_MAX),
      // Always over for cockatiel: #waitMs decides.
      halfOpenAfter: Number.NEGATIVE_INFINITY,
    });
    this.#breaker.onBreak(() => {
      const isReopened = this.#openedAt !== undefined;
      this.#openedAt = clock.now();
      if (!isReopened) onChange(true);
    });
    this.#breaker.onReset(() => {
      this.#openedAt = undefined;
      onChange(false);
    });
  }

  /** Runs `ask`, or returns for how long to leave the host alone, in milliseconds. */
  async run<T>(ask: () => Promise<T>): Promise<{ result: T } | { waitMs: number }> {
    const waitMs = this.#waitMs();
    return waitMs > 0 ? { waitMs } : { result: await this.#breaker.execute(ask) };
  }

  #waitMs(): number {
    if (this.#breaker.state === CircuitState.HalfOpen) return TRIAL_WAIT_MS;
    if (this.#openedAt === undefined) return 0;
    const openForMs = this.#clock.now() - this.#openedAt;
    // Below zero when the clock was set back: then one request is tried now.
    return openForMs >= 0 && openForMs < OPEN_MS ? OPEN_MS - openForMs : 0;
  }
}
