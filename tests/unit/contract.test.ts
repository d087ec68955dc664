/** The check of every HTTP test against the OpenAPI document must find what is wrong. */
import { describe, expect, test } from 'bun:test';
import { Contract } from '../support/contract.ts';

const json = (schema: object) => ({ content: { 'application/json': { schema } } });
const contract = new Contract({
  paths: {
    '/v1/tests/{test_id}': {
      get: {
        responses: {
          200: json({ type: 'object', required: ['id'], properties: { id: { $ref: '#/components/schemas/Id' } } }),
          304: {},
        },
      },
      delete: { responses: { 204: {} } },
    },
    '/v1/tests/newest': { get: { responses: { 200: json({ type: 'null' }) } } },
  },
  components: { schemas: { Id: { type: 'integer' } } },
} as ConstructorParameters<typeof Contract>[0]);

const answer = (body: string | null, status = 200, headers: Record<string, string> = {}): Response =>
  new Response(body, {
    status,
    headers: { ...(body === null ? {} : { 'content-type': 'application/json' }), ...headers },
  });
const breach = (method: string, pathname: string, response: Response) =>
  contract.breach({ method, pathname }, response);

describe('the contract', () => {
  test('accepts what is documented, including HEAD and addresses with two slashes', async () => {
    const good: [string, string, Response][] = [
      ['GET', '/v1/tests/7', answer('{"id":7}')],
      ['GET', '//v1/tests/7', answer('{"id":7}', 200, { 'content-type': 'application/json; charset=utf-8' })],
      ['GET', '/v1/tests/7', answer(null, 304)],
      ['HEAD', '/v1/tests/7', answer(null)],
      ['DELETE', '/v1/tests/7', answer(null, 204)],
      ['GET', '/v1/tests/newest', answer('null')],
      ['GET', '/v1/other', answer('{}', 404)],
      ['PUT', '/v1/tests/7', answer('{}', 405, { allow: 'GET' })],
      ['GET', '/docs/json', answer('{}')],
    ];
    for (const [method, path, response] of good)
      expect([method, path, await breach(method, path, response)]).toEqual([method, path, undefined]);
  });

  test.each([
    ['a status that is not documented', 'GET', '/v1/tests/7', answer('{"id":7}', 429), 'knows 200, 304 only'],
    ['a body that does not fit, by way of a reference', 'GET', '/v1/tests/7', answer('{"id":"7"}'), 'must be integer'],
    ['a field that is missing', 'GET', '/v1/tests/7', answer('{}'), 'id'],
    ['another media type', 'GET', '/v1/tests/7', answer('7', 200, { 'content-type': 'text/plain' }), 'text/plain'],
    ['a body where none is documented', 'DELETE', '/v1/tests/7', answer('{}', 200), 'knows 204 only'],
    ['a body of HEAD', 'HEAD', '/v1/tests/7', answer('{"id":7}'), 'with a body'],
    ['an address that is not documented', 'GET', '/v1/other', answer('{}'), 'no such path'],
    ['a method that is not documented', 'PUT', '/v1/tests/7', answer('{}'), 'no such method'],
    ['a method that is refused without Allow', 'PUT', '/v1/tests/7', answer('{}', 405), 'no such method'],
  ])('reports %s', async (_, method, path, response, said) => {
    expect(await breach(method, path, response)).toContain(said);
  });

  test('leaves the answer readable', async () => {
    const response = answer('{"id":7}');
    await breach('GET', '/v1/tests/7', response);
    expect(await response.json()).toEqual({ id: 7 });
  });
});
