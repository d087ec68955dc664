/** Segments in an S3-compatible store. Every request has a limit of time: the store may accept it and never answer. */
import { S3Client } from 'bun';
import pTimeout from 'p-timeout';
import type { S3Config } from '../../kept-config.ts';
import type { KeptPlace } from './place.ts';

const REQUEST_MS_MAX = 60_000;

export class S3Place implements KeptPlace {
  readonly #client: S3Client;
  readonly #prefix: string;

  constructor({ bucket, prefix, endpoint, region, accessKeyId, secretAccessKey }: S3Config) {
    this.#prefix = prefix;
    this.#client = new S3Client({
      ...{ bucket, accessKeyId, secretAccessKey },
      ...(endpoint !== undefined && { endpoint }),
      ...(region !== undefined && { region }),
    });
  }

  async list(): Promise<string[]> {
    const names: string[] = [];
    for (let startAfter: string | undefined; ; ) {
      const page = await inTime(this.#client.list({ prefix: this.#prefix, ...(startAfter && { startAfter }) }));
      const keys = (page.contents ?? []).map(({ key }) => key);
      names.push(...keys.map((key) => key.slice(this.#prefix.length)));
      startAfter = keys.at(-1);
      if (!page.isTruncated || startAfter === undefined) return names;
    }
  }

  /** Throws if the store does not answer, or refuses. */
  async ping(): Promise<void> {
    await inTime(this.#client.list({ prefix: this.#prefix, maxKeys: 1 }));
  }

  async read(name: string): Promise<string> {
    const file = this.#client.file(this.#prefix + name);
    try {
      return await inTime(file.text());
    } catch (error) {
      if (await inTime(file.exists())) throw error;
      return '';
    }
  }

  async replace(name: string, text: string): Promise<void> {
    await inTime(this.#client.write(this.#prefix + name, text));
  }

  async remove(name: string): Promise<void> {
    await inTime(this.#client.delete(this.#prefix + name));
  }
}

const inTime = <T>(request: Promise<T>): Promise<T> =>
  pTimeout(request, {
    milliseconds: REQUEST_MS_MAX,
    message: `the S3 store did not answer within ${REQUEST_MS_MAX} ms`,
  });
