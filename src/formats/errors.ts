/** How an upload can be wrong as a whole; the gateway turns each into a response. */

/** The body cannot be read, or holds what is never accepted; the message is a sentence for its sender (422). */
export class InvalidUpload extends Error {
  override name = 'InvalidUpload';
}

/** The body is no report of the format that it was sent as. */
export class WrongFormat extends InvalidUpload {
  override name = 'InvalidUpload';
}

/** The body is larger than a limit; the message says which (413). */
export class UploadTooLarge extends Error {
  override name = 'UploadTooLarge';
}

/**
 * Runs a decoder. Whatever it throws becomes an InvalidUpload with the sentence that `sentenceOf` makes of the cause.
 */
export function decoded<T>(decode: () => T, sentenceOf: (cause: string) => string): T {
  try {
    return decode();
  } catch (error) {
    if (error instanceof InvalidUpload || error instanceof UploadTooLarge) throw error;
    throw new InvalidUpload(sentenceOf(error instanceof Error ? error.message : String(error)), { cause: error });
  }
}
