/** The host did not do what was asked. The message is a sentence without its full stop, and never holds the token. */
export class HostError extends Error {
  override name = 'HostError';
  constructor(
    message: string,
    /** Status of the last answer; undefined if there was none. */
    readonly status: number | undefined,
    /** It may have done it nevertheless: the connection broke, or the host met trouble. */
    readonly isUncertain: boolean,
    /** It takes no more requests for now: how long to wait, in milliseconds. */
    readonly limitedMs?: number,
  ) {
    super(message);
  }
}
