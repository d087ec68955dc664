/** Errors between the client and the service. */

/**
 * A request that got no useful answer; the message is a sentence and never holds the key.
 *
 * @property isRefusal whether the service has decided: the same request will not succeed later
 * @property status of the last answer, if there was one
 */
export class ServiceError extends Error {
  override name = 'ServiceError';
  constructor(
    message: string,
    readonly isRefusal: boolean,
    readonly status?: number,
    cause?: unknown,
  ) {
    super(message, { cause });
  }
}
