/**
 * The memory of request bodies that are being read: bounded for all of them together, however many arrive and however
 * slowly.
 */
import type { Chunks } from './bounded-bytes.ts';
import { serviceBusy } from './problems.ts';

interface Place {
  /** The same chunks, counted while they arrive. Throws 503 when there is no room for them. */
  counted(chunks: Chunks): AsyncGenerator<Uint8Array>;
  /** The body is no longer held. */
  leave(): void;
}

export class BodyRoom {
  #bytes = 0;

  constructor(private readonly bytesMax: number) {}

  /** Bytes that are held now. */
  get bytes(): number {
    return this.#bytes;
  }

  enter(): Place {
    let held = 0;
    const take = (count: number): void => {
      if (this.#bytes + count > this.bytesMax) throw serviceBusy();
      held += count;
      this.#bytes += count;
    };
    return {
      async *counted(chunks) {
        for await (const chunk of chunks) {
          take(chunk.length);
          yield chunk;
        }
      },
      leave: () => {
        this.#bytes -= held;
        held = 0;
      },
    };
  }
}
