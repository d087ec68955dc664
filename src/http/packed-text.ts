/** A text that is made seldom and sent often: its bytes are packed once, for those that take gzip. */
import { gzipSync } from 'node:zlib';
import { takesGzip } from './packing.ts';

export class PackedText {
  #plain: Blob | undefined;
  #packed: Blob | undefined;

  constructor(
    private readonly text: string,
    private readonly headers: Readonly<Record<string, string>>,
  ) {}

  answer(request: Request): Response {
    const headers = { ...this.headers, vary: 'accept-encoding' };
    if (!takesGzip(request)) {
      this.#plain ??= new Blob([this.text]);
      return new Response(this.#plain, { headers });
    }
    this.#packed ??= new Blob([gzipSync(this.text)]);
    return new Response(this.#packed, { headers: { ...headers, 'content-encoding': 'gzip' } });
  }
}
