/** Every store, with its name in sentences. */
export const STORE_TITLES = { clickhouse: 'ClickHouse', postgres: 'PostgreSQL', queue: 'The queue' } as const;
export type StoreName = keyof typeof STORE_TITLES;

/**
 * A store is down, overloaded or unreachable: the same call may succeed later. Reads answer 503 with `Retry-After`,
 * workers retry with backoff. `cause` is for the log; the message contains no address and no secret.
 */
export class StoreUnavailable extends Error {
  override name = 'StoreUnavailable';
  constructor(
    readonly store: StoreName,
    cause?: unknown,
    /** For the person who starts the service, if the store responds but refuses: a sentence with no address and no secret. */
    readonly advice?: string,
  ) {
    super(`${store} is unavailable`, { cause });
  }
}

/**
 * A read that is stopped or not begun, so that others are served. The message is a sentence for the client: 503 with
 * `Retry-After`.
 */
export class ReadRefused extends Error {
  override name = 'ReadRefused';
  constructor(
    readonly reason: 'busy' | 'time' | 'memory',
    message: string,
  ) {
    super(message);
  }
}

/**
 * A user asked for something impossible. The message is a sentence for them, which the command line prints without a
 * stack.
 */
export class UserError extends Error {
  override name = 'UserError';
}
