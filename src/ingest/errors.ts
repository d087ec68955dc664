/** How an upload can be wrong as a whole; the gateway makes a response of each, the command line a sentence. */

/** The body cannot be understood or holds what is never accepted; the message is a sentence for its sender (422). */
export class InvalidUpload extends Error {
  override name = 'InvalidUpload';
}

/** The body is larger than a limit; the message says which (413). */
export class UploadTooLarge extends Error {
  override name = 'UploadTooLarge';
}
