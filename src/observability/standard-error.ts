/** Lines on standard error, each written whole before anything else happens: the process may end after any of them. */
import { writeSync } from 'node:fs';

const STANDARD_ERROR = 2;
/** A pipe that is full and does not block. Its reader gets this long; then the line is lost, not the service. */
const FULL_TRIES_MAX = 200;
const FULL_WAIT_MS = 5;

/** For pino, whose own writer loses the last lines on Bun when the process exits right after them. */
export const standardError = {
  write(line: string): void {
    const bytes = Buffer.from(line);
    for (let written = 0, tries = 0; written < bytes.length && tries < FULL_TRIES_MAX; ) {
      try {
        written += writeSync(STANDARD_ERROR, bytes, written);
      } catch (error) {
        // Anything else means that no one reads: there is nowhere to report it.
        if (!(error instanceof Error && 'code' in error && error.code === 'EAGAIN')) return;
        tries++;
        Bun.sleepSync(FULL_WAIT_MS);
      }
    }
  },
};
