/** Which store did not answer. */
export type StoreName = 'clickhouse' | 'postgres' | 'queue';

/**
 * A store is down, overloaded or out of reach: the same call may succeed later. Reads answer 503 with `Retry-After`,
 * workers retry with backoff. The cause stays on `cause` for the log; the message holds no address and no secret.
 */
export class StoreUnavailable extends Error {
  override name = 'StoreUnavailable';
  constructor(
    readonly store: StoreName,
    cause?: unknown,
  ) {
    super(`${store} is unavailable`, { cause });
  }
}

/** Someone asked for what cannot be done; the message is a sentence for them. The command line prints it, no stack. */
export class UserError extends Error {
  override name = 'UserError';
}
