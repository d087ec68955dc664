/** Requests that no client of ours sends, byte by byte: a right status, never a page of the runtime. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { openConnections } from '../support/many-connections.ts';
import { answersIn, exchange } from '../support/raw-http.ts';
import { openServiceApp, type ServiceApp, slowestProbe } from '../support/service-app.ts';

const LIVE = '/healthz/live';
let service: ServiceApp;
beforeAll(async () => {
  service = await openServiceApp();
});
afterAll(() => service.stop());

/** The only answer to a request that is written as its lines. It asks for the connection's end, to save the wait. */
async function answerTo(...lines: string[]) {
  const answers = answersIn(await exchange(service.port, `${lines.join('\r\n')}\r\nConnection: close\r\n\r\n`));
  expect([lines, answers.length]).toEqual([lines, 1]);
  const [answer] = answers;
  if (!answer) throw new Error('no answer');
  return answer;
}
const statusOf = async (...lines: string[]) => (await answerTo(...lines)).status;

/** Every route of the service, and an address that is none. */
const everywhere = () => [
  ...new Set(service.app.routes.map(({ path }) => path.replace(/:\w+/g, 'x').replace('*', 'x'))),
  '/nope',
  '//nope',
];

describe('the Host header', () => {
  test('a probe of a balancer over HTTP/1.0, without Host or with an empty one, gets 200', async () => {
    for (const path of [LIVE, '/healthz/ready', '/metrics', '/docs']) {
      expect([path, await statusOf(`GET ${path} HTTP/1.0`)]).toEqual([path, 200]);
      expect([path, await statusOf(`GET ${path} HTTP/1.1`, 'Host:')]).toEqual([path, 200]);
    }
    expect(await statusOf(`GET http://elsewhere.example${LIVE} HTTP/1.0`)).toBe(200);
    expect(await statusOf(`GET ${LIVE} HTTP/1.1`, 'Host: 127.0.0.1:')).toBe(200);
    expect(await statusOf(`GET ${LIVE} HTTP/1.1`, 'Host: [::1]:3000')).toBe(200);
  });

  test('without one, unknown addresses are 404, other methods 405, and links name the address of the server', async () => {
    expect(await statusOf('GET /nope HTTP/1.0')).toBe(404);
    expect(await statusOf(`DELETE ${LIVE} HTTP/1.0`)).toBe(405);
    const search = '/v1/ci/acme/repositories/shop/search/tests?test_name=*';
    const { status, headers } = await answerTo(`GET ${search} HTTP/1.0`, `Authorization: Bearer ${service.adminToken}`);
    expect(status).toBe(200);
    expect(headers.get('link')).toStartWith(`<http://127.0.0.1:${service.port}/v1/ci/`);
  });

  test('an invalid one is 400 as a problem, at every address and with every method', async () => {
    const odd = [
      'a[b',
      'a b',
      'a/b',
      'a?b',
      'a#b',
      'user@b',
      'a,b',
      'a:99999',
      'a:1x',
      '[::',
      '1.2.3.4.5',
      '\xff',
      '<b>',
    ];
    for (const host of odd)
      for (const path of [LIVE, '/nope', '/docs', '/admin/queues']) {
        const { status, headers, body } = await answerTo(`GET ${path} HTTP/1.1`, `Host: ${host}`);
        expect([host, path, status, headers.get('content-type')]).toEqual([
          host,
          path,
          400,
          'application/problem+json',
        ]);
        expect(JSON.parse(body).detail).toContain('Host header');
      }
    for (const path of everywhere())
      for (const method of ['GET', 'POST'])
        expect([path, await statusOf(`${method} ${path} HTTP/1.1`, 'Host: a[b', 'Content-Length: 0')]).toEqual([
          path,
          400,
        ]);
  });

  test('two of them are 400, and so is HTTP/1.1 without one', async () => {
    expect(await statusOf(`GET ${LIVE} HTTP/1.1`, 'Host: a', 'Host: b')).toBe(400);
    expect(await statusOf(`GET ${LIVE} HTTP/1.1`)).toBe(400);
  });

  test('a wrong one is served like a right one: the service may have any name', async () => {
    expect(await statusOf(`GET ${LIVE} HTTP/1.1`, 'Host: elsewhere.example:81')).toBe(200);
  });
});

describe('the form of a request', () => {
  test('an absolute form is served by its path', async () => {
    expect(await statusOf(`GET http://elsewhere.example${LIVE} HTTP/1.1`, 'Host: elsewhere.example')).toBe(200);
    expect(await statusOf('GET http://elsewhere.example/nope HTTP/1.1', 'Host: elsewhere.example')).toBe(404);
  });

  test('an asterisk, a tunnel, another version and no HTTP at all are refused', async () => {
    expect(await statusOf('OPTIONS * HTTP/1.1', 'Host: a')).toBe(400);
    for (const target of ['a:80', 'http:80', '[::1', '*'])
      expect([target, await statusOf(`CONNECT ${target} HTTP/1.1`, 'Host: a')]).toEqual([target, 400]);
    expect(await statusOf('GET healthz HTTP/1.1', 'Host: a')).toBe(400);
    expect(await statusOf('GET / HTTP/2.0', 'Host: a')).toBe(505);
    for (const bytes of ['\r\n\r\n', '\x16\x03\x01\x02\x00\x01', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'])
      expect(answersIn(await exchange(service.port, bytes))).toMatchObject([{ status: 400, body: '' }]);
  });

  // Bun closes the connection when a request arrives behind one that it has not answered yet. Clients then send it again.
  test('pipelined requests get their own answers in order, as many as are given before the connection closes', async () => {
    const one = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;
    for (const paths of [
      [LIVE, '/nope', LIVE, '/nope'],
      ['/healthz/ready', '/nope', LIVE],
      [LIVE, '/healthz/ready', '/nope', LIVE],
      ['/v1/application', '/nope'],
    ]) {
      const statuses = answersIn(await exchange(service.port, paths.map(one).join(''))).map(({ status }) => status);
      const expected = paths.map((path) => (path === '/nope' ? 404 : path === '/v1/application' ? 403 : 200));
      expect([paths, statuses]).toEqual([paths, expected.slice(0, statuses.length)]);
    }
  });

  test('what a trailer says is never taken for a request', async () => {
    const start = `POST /v1/application HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n`;
    for (const trailer of ['X: y', `GET ${LIVE} HTTP/1.1: y`, `GET ${LIVE} HTTP/1.1\r\nHost: a`]) {
      const [first, ...others] = answersIn(await exchange(service.port, `${start}${trailer}\r\n\r\n`));
      expect(first?.status).toBe(405);
      // Bun knows no trailers: it refuses them and closes the connection.
      expect([trailer, others.map(({ status }) => status)]).toEqual([trailer, [400]]);
    }
  });

  test('a body whose length is told twice, wrongly or not at all is 400', async () => {
    const post = (headers: string, body: string) =>
      exchange(service.port, `POST /v1/application HTTP/1.1\r\nHost: a\r\n${headers}\r\n\r\n${body}`);
    for (const headers of [
      'Transfer-Encoding: chunked\r\nContent-Length: 4',
      'Content-Length: 4\r\nContent-Length: 5',
      'Content-Length: -1',
      'Content-Length: x',
      'Content-Length: 0x4',
      'Content-Length: +4',
      'Transfer-Encoding: gzip, chunked',
      'Transfer-Encoding: chunked, identity',
      'X : y',
      'X: \0',
    ])
      expect([headers, answersIn(await post(headers, '3\r\nabc\r\n0\r\n\r\n')).map(({ status }) => status)]).toEqual([
        headers,
        [400],
      ]);
  });
});

test('idle connections and ones that send a byte now and then disturb nobody', async () => {
  const calm = await slowestProbe(service.port, 10);
  const connections = await openConnections(service.port, 1_000, 100);
  try {
    expect(await slowestProbe(service.port, 10)).toBeLessThan(1_000 + 4 * calm);
  } finally {
    await connections.close();
  }
});
