/** The only reader of the machine's clock: rules and stores are handed a `Clock`, so that a test can shift the time. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };
