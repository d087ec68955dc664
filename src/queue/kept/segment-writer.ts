/**
 * Adds lines to segments, and says when they are on disk. Lines that arrive while others are written are written together, so
 * many jobs share one write and one `fdatasync`.
 */
import type { FileHandle } from 'node:fs/promises';
import type { Clock } from '../../clock.ts';
import type { FolderPlace } from './folder-place.ts';
import { newWriterId, segmentName } from './segments.ts';

/** A segment is read as a whole when something is removed from it. */
const SEGMENT_BYTES_MAX = 32 * 1024 * 1024;

interface Waiting {
  line: string;
  settle: PromiseWithResolvers<void>;
}

interface Segment {
  name: string;
  file: FileHandle;
  bytes: number;
}

export class SegmentWriter {
  readonly #id = newWriterId();
  #waiting: Waiting[] = [];
  #writing: Promise<void> | undefined;
  #segment: Segment | undefined;
  #begun = 0;

  constructor(
    private readonly clock: Clock,
    private readonly place: FolderPlace,
  ) {}

  /** Returns when the line is on disk. */
  add(line: string): Promise<void> {
    const settle = Promise.withResolvers<void>();
    this.#waiting.push({ line, settle });
    this.#writing ??= this.#drain().finally(() => {
      this.#writing = undefined;
    });
    return settle.promise;
  }

  /** Whether a segment is this writer's. */
  wrote(name: string): boolean {
    return name.includes(`-${this.#id}-`);
  }

  /** Nothing is added any more. */
  async close(): Promise<void> {
    await this.#writing;
    await this.#leave();
  }

  async #drain(): Promise<void> {
    while (this.#waiting.length > 0) {
      const lines = this.#waiting;
      this.#waiting = [];
      try {
        await this.#write(lines.map(({ line }) => `${line}\n`).join(''));
        for (const { settle } of lines) settle.resolve();
      } catch (error) {
        // Half a line may be at its end: nothing is added to that.
        await this.#leave().catch(() => {});
        for (const { settle } of lines) settle.reject(error);
      }
    }
  }

  async #write(text: string): Promise<void> {
    const segment = await this.#segmentOf(this.clock.now());
    await segment.file.appendFile(text);
    await segment.file.datasync();
    segment.bytes += text.length;
  }

  async #segmentOf(now: number): Promise<Segment> {
    const known = this.#segment;
    if (known && known.bytes < SEGMENT_BYTES_MAX && known.name === segmentName(now, this.#id, this.#begun))
      return known;
    await this.#leave();
    const name = segmentName(now, this.#id, ++this.#begun);
    this.#segment = { name, file: await this.place.begin(name), bytes: 0 };
    return this.#segment;
  }

  async #leave(): Promise<void> {
    const left = this.#segment;
    this.#segment = undefined;
    await left?.file.close();
  }
}
