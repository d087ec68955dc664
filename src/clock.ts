/** The only reader of the machine's clock: rules and stores are handed a `Clock`, so that a test can shift the time. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };

/** Two clocks agree if they differ by no more than this. */
export const CLOCK_TOLERANCE_MS = 60_000;

/**
 * A clock that a jump of the machine's clock does not move. It is set to the machine's time whenever that agrees with
 * a second clock, and in between runs evenly. A machine that is wrong from the start is not believed.
 */
export class SteadyClock implements Clock {
  #setTo: number;
  #setAt: number;
  #wasAgreed = false;

  constructor(
    private readonly machine: Clock = systemClock,
    /** Milliseconds from any moment on; never jumps. */
    private readonly elapsed: () => number = () => performance.now(),
  ) {
    this.#setTo = machine.now();
    this.#setAt = elapsed();
  }

  now(): number {
    return Math.round(this.#setTo + this.elapsed() - this.#setAt);
  }

  /** How far the machine's clock has moved away from this one: above 0 if it is ahead. */
  driftMs(): number {
    return this.machine.now() - this.now();
  }

  /** Takes in what the second clock says now. Returns how far the machine's clock is ahead of it. */
  compare(other: number): number {
    const machine = this.machine.now();
    const aheadMs = machine - other;
    const isAgreed = Math.abs(aheadMs) <= CLOCK_TOLERANCE_MS;
    if (isAgreed) this.#set(machine);
    else if (!this.#wasAgreed) this.#set(other);
    this.#wasAgreed ||= isAgreed;
    return aheadMs;
  }

  #set(to: number): void {
    this.#setTo = to;
    this.#setAt = this.elapsed();
  }
}
