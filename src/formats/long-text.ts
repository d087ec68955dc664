/** Text that arrives in pieces and is cut: only as much is kept as the cut needs, but all of it is counted. */
import { STACKTRACE_BYTES_MAX } from '../domain/limits.ts';
import { cutText } from '../domain/text.ts';

/** Twice what is shown: blanks at the start are trimmed. */
const KEPT_LENGTH_MAX = 2 * STACKTRACE_BYTES_MAX;

export class LongText {
  readonly #pieces: string[] = [];
  #length = 0;
  #bytesLeftOut = 0;

  add(text: string): void {
    if (this.#length < KEPT_LENGTH_MAX && text !== '') this.#pieces.push(text);
    else this.#bytesLeftOut += Buffer.byteLength(text);
    this.#length += text.length;
  }

  /** Trimmed; null if nothing is left. */
  trimmed(): string | null {
    const text = this.#pieces.join('').trim();
    if (this.#bytesLeftOut === 0) return text || null;
    return cutText(text, STACKTRACE_BYTES_MAX, this.#bytesLeftOut);
  }
}
