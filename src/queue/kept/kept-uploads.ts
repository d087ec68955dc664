/**
 * Keeps what arrives for some days beside both stores, so that it can be sent again after a restore (docs/operations.md).
 *
 *     a worker takes a job ──► a line on disk, in this minute's segment ──► S3, if there is one ──► gone after some days
 *
 * It is a second copy: if it cannot be kept, the job is stored nevertheless, and that is logged and counted.
 */
import type { Clock } from '../../clock.ts';
import type { RepositoryName } from '../../domain/repository-path.ts';
import { DAY_MS, MINUTE_MS } from '../../domain/time.ts';
import type { KeptConfig } from '../../kept-config.ts';
import type { Logger } from '../../observability/log.ts';
import { uploadsKeptWaiting, uploadsNotKept } from '../../observability/metrics.ts';
import { FolderPlace } from './folder-place.ts';
import { lineOf, type TakenJob, withoutRepository } from './kept-job.ts';
import type { KeptPlace } from './place.ts';
import { S3Place } from './s3-place.ts';
import { SegmentWriter } from './segment-writer.ts';
import { beganAt, inOrder, isClosed } from './segments.ts';

export interface KeptUploadsDeps {
  clock: Clock;
  log: Logger;
}

export class KeptUploads {
  readonly #folder: FolderPlace;
  readonly #s3: S3Place | undefined;
  readonly #writer: SegmentWriter;
  readonly #days: number;

  /** Throws a `UserError` if the folder cannot be made. */
  constructor(
    private readonly deps: KeptUploadsDeps,
    { days, folder, s3 }: KeptConfig,
  ) {
    this.#days = days;
    this.#folder = new FolderPlace(folder);
    this.#s3 = s3 && new S3Place(s3);
    this.#writer = new SegmentWriter(deps.clock, this.#folder);
  }

  /** Returns when the job is on disk, or is known not to be. */
  async keep(job: TakenJob): Promise<void> {
    const { clock, log } = this.deps;
    try {
      const line = lineOf(job, clock.now());
      if (line !== undefined) await this.#writer.add(line);
    } catch (err) {
      uploadsNotKept.inc();
      log.error({ err, queue: job.queue, job: job.id }, 'an upload is stored, but cannot be kept for a restore');
    }
  }

  /** Moves closed segments into the S3 store. Two processes may move the same one. Throws if the store does not answer. */
  move(): Promise<void> {
    return this.#moveAll((name) => isClosed(name, this.deps.clock.now()));
  }

  async #moveAll(isMoved: (name: string) => boolean): Promise<void> {
    if (!this.#s3) return;
    const names = inOrder(await this.#folder.list()).filter(isMoved);
    const ages = names.map((name) => (this.deps.clock.now() - (beganAt(name) ?? 0)) / 1_000);
    for (const [i, name] of names.entries()) {
      uploadsKeptWaiting.set(ages[i] ?? 0);
      const text = await this.#folder.read(name);
      // Another process may have moved it by now.
      if (text !== '') await this.#s3.replace(name, text);
      await this.#folder.remove(name);
    }
    uploadsKeptWaiting.set(0);
  }

  /** The names of segments that may have what was kept since a moment, oldest first. */
  async segments(since = 0): Promise<string[]> {
    const names = await Promise.all(this.#places.map((place) => place.list()));
    // One that is being moved is in both.
    return inOrder([...new Set(names.flat())]).filter((name) => (beganAt(name) ?? 0) > since - 2 * MINUTE_MS);
  }

  /** The lines of a segment. */
  async lines(name: string): Promise<string[]> {
    for (const place of this.#places) {
      const text = await place.read(name);
      if (text !== '') return linesOf(text);
    }
    return [];
  }

  /** Removes what is older than the configured days. */
  async removeOld(): Promise<void> {
    const before = this.deps.clock.now() - this.#days * DAY_MS;
    for (const place of this.#places)
      for (const name of inOrder(await place.list())) if ((beganAt(name) ?? before) < before) await place.remove(name);
  }

  /**
   * Removes what was queued for a repository until a moment. Segments that are still written to are left for a later call.
   *
   * @param since only from segments since then
   */
  async removeRepository(path: RepositoryName, until: number, since = 0): Promise<void> {
    for (const place of this.#places)
      for (const name of inOrder(await place.list()))
        if ((beganAt(name) ?? 0) >= since && isClosed(name, this.deps.clock.now()))
          await removeFrom(place, name, (line) => withoutRepository(line, path, until));
  }

  /** Where segments are, the folder first: from there they move. */
  get #places(): KeptPlace[] {
    return this.#s3 ? [this.#folder, this.#s3] : [this.#folder];
  }

  /** Ends this process's segment, and moves it. What cannot be moved is moved by the next process on this folder. */
  async close(): Promise<void> {
    await this.#writer.close();
    await this.#moveAll((name) => this.#writer.wrote(name)).catch((err: unknown) =>
      this.deps.log.warn({ err }, 'kept uploads could not be moved to the S3 store; they are in their folder'),
    );
  }
}

/** Also the last one, which a power loss may have cut off. */
const linesOf = (text: string): string[] => text.split('\n').filter((line) => line !== '');

async function removeFrom(place: KeptPlace, name: string, change: (line: string) => string | undefined): Promise<void> {
  const before = linesOf(await place.read(name));
  const after = before.map(change);
  if (after.every((line, i) => line === before[i])) return;
  const left = after.filter((line) => line !== undefined);
  if (left.length === 0) await place.remove(name);
  else await place.replace(name, left.map((line) => `${line}\n`).join(''));
}
