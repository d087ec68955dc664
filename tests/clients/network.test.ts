/** The network between a CI job and the service: a proxy, and a certificate that must be right. */
import { describe, expect, test } from 'bun:test';
import { createServer, request } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { RUNTIMES, runClient } from './support/client.ts';
import { sharedService } from './support/service.ts';

/** A proxy that tunnels and forwards, and counts what it is asked for. */
async function withProxy<T>(use: (url: string) => Promise<T>): Promise<{ asked: number; answer: T }> {
  let asked = 0;
  const proxy = createServer((incoming, outgoing) => {
    asked++;
    const { method = 'GET', headers, url = '' } = incoming;
    const forwarded = request(url, { method, headers }, (response) => {
      outgoing.writeHead(response.statusCode ?? 502, response.headers);
      response.pipe(outgoing);
    });
    incoming.pipe(forwarded);
  });
  proxy.on('connect', ({ url = '' }, socket, head) => {
    asked++;
    const [host = '', port] = url.split(':');
    const target = connect(Number(port), host, () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      target.write(head);
      target.pipe(socket).pipe(target);
    });
    for (const end of [target, socket]) end.on('error', () => end.destroy());
  });
  await new Promise<void>((ready) => proxy.listen(0, '127.0.0.1', ready));
  try {
    return { answer: await use(`http://127.0.0.1:${(proxy.address() as AddressInfo).port}`), asked };
  } finally {
    proxy.closeAllConnections();
    proxy.close();
  }
}

describe.each(RUNTIMES)('on %s', (runtime) => {
  test('requests go through the proxy that the environment names, unless NO_PROXY excepts the service', async () => {
    const service = await sharedService();
    const args = ['tests', '--repo', 'acme/none', '--timeout', '10'];
    let asked = 0;
    for (const NO_PROXY of ['', '127.0.0.1']) {
      const ran = await withProxy((HTTP_PROXY) =>
        runClient(runtime, args, {
          env: { CI_INSIGHTS_URL: service.origin, CI_INSIGHTS_TOKEN: service.token, HTTP_PROXY, NO_PROXY },
        }),
      );
      expect([ran.answer.code, ran.answer.stdout]).toEqual([0, 'No test has such a name.\n']);
      asked += ran.asked;
      expect(asked).toBe(1);
    }
  });

  test('a certificate of an unknown authority ends the request, whatever the environment says', async () => {
    const service = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      tls: await selfSigned(),
      fetch: () => new Response('{}'),
    });
    const env = { CI_INSIGHTS_URL: service.url.origin, CI_INSIGHTS_TOKEN: 'cii_x', NODE_TLS_REJECT_UNAUTHORIZED: '0' };
    const ran = await runClient(runtime, ['tests', '--repo', 'acme/none', '--timeout', '1'], { env });
    expect([ran.code, ran.stderr]).toEqual([
      1,
      expect.stringMatching(/cannot be reached: .*(?:self.signed|certificate)/i),
    ]);
    await service.stop(true);
  });
});

async function selfSigned(): Promise<{ key: string; cert: string }> {
  const command = ['openssl', 'req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  const made = Bun.spawnSync([...command, '-keyout', '-', '-out', '-', '-days', '2', '-subj', '/CN=127.0.0.1']);
  const text = made.stdout.toString();
  const [key = ''] = /-----BEGIN PRIVATE KEY-----[\s\S]*?-----END PRIVATE KEY-----/.exec(text) ?? [];
  const [cert = ''] = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/.exec(text) ?? [];
  return { key, cert };
}
