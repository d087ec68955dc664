/**
 * Load on one address from a separate process, so that the client takes no time from the server: raw sockets with keep-alive, each
 * of which sends the next request when the previous answer is complete. All answers have the same length as the first one.
 *
 * `bun tests/bench/load.ts <url> <authorization or -> <connections> <seconds>` prints requests per second.
 */
import { fileURLToPath } from 'node:url';

/** Requests per second that the address answers to so many connections. */
export async function requestsPerSecond(
  url: string,
  authorization: string | undefined,
  connections: number,
  seconds: number,
): Promise<number> {
  const script = fileURLToPath(import.meta.url);
  const command = [process.execPath, script, url, authorization ?? '-', String(connections), String(seconds)];
  const child = Bun.spawn(command, { stdout: 'pipe', stderr: 'inherit' });
  const printed = await new Response(child.stdout).text();
  if ((await child.exited) !== 0) throw new Error('the load ended with an error');
  return Number(printed);
}

if (import.meta.main) {
  const [address = '', authorization = '-', connections = '32', seconds = '3'] = process.argv.slice(2);
  const url = new URL(address);
  const head = [`GET ${url.pathname}${url.search} HTTP/1.1`, `Host: ${url.host}`];
  if (authorization !== '-') head.push(`Authorization: ${authorization}`);
  const request = `${head.join('\r\n')}\r\n\r\n`;
  const length = await answerLength(url, request);

  let answers = 0;
  let isCounting = false;
  const sockets = await Promise.all(
    Array.from({ length: Number(connections) }, () => {
      let received = 0;
      return Bun.connect({
        hostname: url.hostname,
        port: Number(url.port),
        socket: {
          open: (socket) => void socket.write(request),
          data: (socket, data) => {
            received += data.byteLength;
            if (received < length) return;
            received -= length;
            if (isCounting) answers++;
            socket.write(request);
          },
        },
      });
    }),
  );
  await Bun.sleep(1_000);
  isCounting = true;
  const started = performance.now();
  await Bun.sleep(Number(seconds) * 1_000);
  isCounting = false;
  process.stdout.write(String((answers * 1_000) / (performance.now() - started)));
  for (const socket of sockets) socket.end();
  process.exit(0);
}

/** Bytes of one answer, head and body; throws unless it is a 200. */
async function answerLength(url: URL, request: string): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  let received = '';
  const socket = await Bun.connect({
    hostname: url.hostname,
    port: Number(url.port),
    socket: {
      open: (opened) => void opened.write(request),
      data: (_, data) => {
        received += data.toString('latin1');
        const headEnd = received.indexOf('\r\n\r\n');
        const stated = /^content-length: (\d+)/im.exec(received)?.[1];
        if (headEnd < 0 || stated === undefined) return;
        const whole = headEnd + 4 + Number(stated);
        if (!received.startsWith('HTTP/1.1 200')) reject(new Error(received.slice(0, 200)));
        else if (received.length >= whole) resolve(whole);
      },
    },
  });
  const length = await promise;
  socket.end();
  return length;
}
