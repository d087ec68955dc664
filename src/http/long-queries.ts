/** Room for long names in addresses. */
import http from 'node:http';

/**
 * A test name of 10,000 characters is up to 120,000 bytes when it is percent-encoded, and a cursor may hold it once more. Bun
 * answers 431 to a request line and headers of more than 16 KiB unless told otherwise, and takes the figure from here.
 */
const HEADER_BYTES_MAX = 1024 * 1024;

/** Holds for every server of this process that begins to listen afterwards. */
export function allowLongQueries(): void {
  // Writable in Bun, though Node's types say otherwise.
  (http as { maxHeaderSize: number }).maxHeaderSize = HEADER_BYTES_MAX;
}
