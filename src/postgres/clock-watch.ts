/**
 * Compares the machine's clock with PostgreSQL's. A process whose machine has a wrong clock goes by the right time, but
 * takes no jobs and drops nothing until both agree: its locks and retries would be wrong for the other processes, and
 * a clock that is a year ahead must not end the retention of what everyone stored.
 */
import { sql } from 'drizzle-orm';
import { CLOCK_TOLERANCE_MS, SteadyClock } from '../clock.ts';
import type { Logger } from '../observability/log.ts';
import type { Database } from './client.ts';

/** Whether the machine's clock can be relied on. */
export interface ClockAgreement {
  readonly isAgreed: boolean;
  /** Called after each change. */
  onChange(listener: (isAgreed: boolean) => void): void;
}

/** For a clock that a caller sets. */
export const ALWAYS_AGREED: ClockAgreement = { isAgreed: true, onChange: () => {} };

/** How often the machine's clock is compared with the steady one, which costs nothing. */
const LOOK_EVERY_MS = 500;
/** How often PostgreSQL is asked though nothing jumped. */
const ASK_EVERY_MS = 30_000;
const JUMP_MS = 1_000;

export class ClockWatch implements ClockAgreement {
  readonly clock: SteadyClock;
  isAgreed = true;
  #listeners: ((isAgreed: boolean) => void)[] = [];
  #timer: ReturnType<typeof setInterval> | undefined;
  #askedAt = Number.NEGATIVE_INFINITY;
  #asking: Promise<void> | undefined;

  constructor(
    private readonly db: Database,
    private readonly log: Logger,
    clock = new SteadyClock(),
  ) {
    this.clock = clock;
  }

  onChange(listener: (isAgreed: boolean) => void): void {
    this.#listeners.push(listener);
  }

  /** Compares once, then keeps watching. Throws if PostgreSQL does not respond. */
  async start(): Promise<void> {
    await this.#ask();
    this.#timer = setInterval(() => this.#look(), LOOK_EVERY_MS);
    this.#timer.unref();
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#asking;
  }

  #look(): void {
    const isDue = performance.now() - this.#askedAt >= ASK_EVERY_MS;
    const hasJumped = Math.abs(this.clock.driftMs()) >= JUMP_MS;
    if (this.#asking || !(isDue || hasJumped || !this.isAgreed)) return;
    this.#asking = this.#ask()
      // A store that is away is reported elsewhere, and is asked again.
      .catch(() => {})
      .finally(() => {
        this.#asking = undefined;
      });
  }

  async #ask(): Promise<void> {
    const sentAt = performance.now();
    const { rows } = await this.db.execute<{ now: number }>(
      sql`select (extract(epoch from clock_timestamp()) * 1000)::float8 as now`,
    );
    const [row] = rows;
    if (!row) return;
    this.#askedAt = performance.now();
    this.#conclude(this.clock.compare(row.now + (this.#askedAt - sentAt) / 2));
  }

  #conclude(aheadMs: number): void {
    const isAgreed = Math.abs(aheadMs) <= CLOCK_TOLERANCE_MS;
    if (isAgreed === this.isAgreed) return;
    this.isAgreed = isAgreed;
    if (isAgreed) this.log.warn('the clock of this machine agrees with that of PostgreSQL again; taking jobs');
    else
      this.log.error(
        { ahead_s: Math.round(aheadMs / 1_000) },
        'the clock of this machine differs from that of PostgreSQL by more than a minute: this process takes no jobs and drops no months until they agree; let NTP set both clocks',
      );
    for (const listener of this.#listeners) listener(isAgreed);
  }
}
