/** Answers of the host with their `ETag`, on the disk: a host does not count a question whose answer has not changed. */
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

const keptSchema = z.object({ etag: z.string(), link: z.string(), text: z.string() });
export type KeptAnswer = z.infer<typeof keptSchema>;

/** Further answers are asked for each time. */
const BYTES_MAX = 256 * 1024 * 1024;

export class AnswerCache {
  #bytes: number;

  /** @param folder is made if it is not there */
  constructor(private readonly folder: string) {
    mkdirSync(folder, { recursive: true });
    this.#bytes = readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
  }

  find(url: string): KeptAnswer | undefined {
    try {
      return keptSchema.parse(JSON.parse(readFileSync(this.#fileOf(url), 'utf8')));
    } catch {
      return undefined;
    }
  }

  keep(url: string, answer: KeptAnswer): void {
    const text = JSON.stringify(answer);
    if (this.#bytes + text.length > BYTES_MAX) return;
    this.#bytes += text.length;
    writeFileSync(this.#fileOf(url), text);
  }

  /** Nothing of it is needed any more. */
  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  #fileOf(url: string): string {
    return join(this.folder, `${createHash('sha256').update(url).digest('base64url')}.json`);
  }
}
