/** Bytes on a socket, for requests that no HTTP client sends. */
import { connect } from 'node:net';

export interface RawAnswer {
  status: number;
  headers: Headers;
  body: string;
}

/** How long a connection may stay silent until its answers count as complete. */
const QUIET_MS = 300;
const WHOLE_MS = 10_000;

/** Everything that comes back until the server closes the connection or falls silent. */
export function exchange(port: number, sent: string, quietMs = QUIET_MS): Promise<string> {
  return new Promise((resolve, reject) => {
    let received = '';
    const socket = connect({ host: '127.0.0.1', port });
    const done = (): void => {
      clearTimeout(limit);
      socket.destroy();
      resolve(received);
    };
    const limit = setTimeout(done, WHOLE_MS);
    // The first answer may take as long as it needs.
    socket.on('connect', () => socket.write(Buffer.from(sent, 'latin1')));
    socket.on('data', (data) => {
      received += data.toString('latin1');
      socket.setTimeout(quietMs, done);
    });
    socket.on('close', done);
    socket.on('error', (error) => (received === '' ? reject(error) : done()));
  });
}

/** The answers in what came back, one after another; each must say how long it is. */
export function answersIn(received: string): RawAnswer[] {
  const answers: RawAnswer[] = [];
  for (let rest = received; rest !== ''; ) {
    const end = rest.indexOf('\r\n\r\n');
    const [first = '', ...lines] = rest.slice(0, end).split('\r\n');
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(first)?.[1]);
    if (end < 0 || Number.isNaN(status)) throw new Error(`not an answer: ${rest.slice(0, 200)}`);
    const headers = new Headers(
      lines.map((line): [string, string] => [line.replace(/:.*/s, ''), line.replace(/^[^:]*:/, '')]),
    );
    const length = Number(headers.get('content-length') ?? 0);
    answers.push({ status, headers, body: rest.slice(end + 4, end + 4 + length) });
    rest = rest.slice(end + 4 + length);
  }
  return answers;
}
