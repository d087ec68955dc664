/** A text that is made seldom and sent often: its bytes are packed once, for those that take gzip. */
import { gzipSync } from 'node:zlib';

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

const takesGzip = ({ headers }: Request): boolean =>
  (headers.get('accept-encoding') ?? '').split(',').some((one) => {
    const [coding = '', ...parameters] = one.split(';').map((part) => part.trim().toLowerCase());
    return coding === 'gzip' && !parameters.some((parameter) => /^q=0(?:\.0{0,3})?$/.test(parameter));
  });
