/** Which requests get a log line, and what stands in it. */
import { expect, test } from 'bun:test';
import { createLogger } from '../../src/observability/log.ts';
import { startRequest } from '../../src/observability/requests.ts';

function lineOf(level: string, method: string, status: number): Record<string, unknown> | undefined {
  const lines: string[] = [];
  const log = createLogger(level, { write: (line) => void lines.push(line) });
  const request = new Request('http://ci.test/v1/ci/acme/repositories/shop/tests?test_name=a-name', { method });
  const served = { route: '/v1/ci/:owner', operation: 'getTest', request, requestId: 'r-1' };
  startRequest(log, served)(new Response(null, { status }));
  return lines[0] === undefined ? undefined : JSON.parse(lines[0]);
}

test('at info, what changes something and what was refused has a line, a read that went well has none', () => {
  const shown: [string, number, boolean][] = [
    ['GET', 200, false],
    ['HEAD', 200, false],
    ['GET', 304, false],
    ['GET', 404, true],
    ['GET', 503, true],
    ['POST', 201, true],
    ['DELETE', 204, true],
    ['POST', 422, true],
  ];
  for (const [method, status, isShown] of shown)
    expect([method, status, lineOf('info', method, status) !== undefined]).toEqual([method, status, isShown]);
});

test('at debug every request has a line, with its id, path, status and duration, and without its query', () => {
  const line = lineOf('debug', 'GET', 200);
  expect(line).toMatchObject({
    msg: 'request',
    request_id: 'r-1',
    operation: 'getTest',
    method: 'GET',
    path: '/v1/ci/acme/repositories/shop/tests',
    status: 200,
  });
  expect(line?.duration_ms).toBeNumber();
  expect(JSON.stringify(line)).not.toContain('a-name');
});
