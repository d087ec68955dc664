/** `ci-insights mcp` and `ci-insights skill`: the downloaded client on Node, started by the client of the SDK. */
import { expect, test } from 'bun:test';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { answerOf, PROTOCOLS, speaking } from '../support/mcp.ts';
import { clientFile, commandOf, RUNTIMES, runClient } from './support/client.ts';
import { machine } from './support/run.ts';
import { sharedService } from './support/service.ts';
import { FLAKY, shopWithHistory } from './support/shop.ts';

test.each(RUNTIMES.flatMap((runtime) => PROTOCOLS.map((protocol) => [runtime, protocol] as const)))(
  'a client that starts a program gets the tools, on %s in %s',
  async (runtime, protocol) => {
    const [service, repository] = [await sharedService(), `acme/${await shopWithHistory()}`];
    const transport = new StdioClientTransport({
      command: commandOf(runtime),
      args: [await clientFile(), 'mcp'],
      env: { ...machine(), CI_INSIGHTS_URL: service.origin, CI_INSIGHTS_TOKEN: service.token },
    });
    const client = new Client({ name: 'test', version: '1' }, speaking(protocol));
    await client.connect(transport);
    expect(client.getNegotiatedProtocolVersion()).toBe(protocol);
    expect((await client.listTools()).tools).toHaveLength(10);
    const calls = Array.from({ length: 5 }, () =>
      client.callTool({ name: 'get_test', arguments: { repository, test: `shop.${FLAKY.name}` } }),
    );
    for (const result of await Promise.all(calls))
      expect(answerOf(result).json).toMatchObject({ health_status: 'flaky', test_name: `⟦shop.${FLAKY.name}⟧` });
    await client.close();
  },
);

test('a version that the service does not speak is refused by those that it speaks, over the bridge, too', async () => {
  const service = await sharedService();
  const env = { CI_INSIGHTS_URL: service.origin, CI_INSIGHTS_TOKEN: service.token };
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2099-01-01',
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const message = { jsonrpc: '2.0', id: 1, method: 'server/discover', params: { _meta } };
  const { stdout } = await runClient('node', ['mcp'], { env, input: `${JSON.stringify(message)}\n` });
  expect(JSON.parse(stdout)).toMatchObject({ id: 1, error: { data: { supported: ['2026-07-28'] } } });
});

test('what the bridge cannot pass on is answered as a fault, and it ends with its input', async () => {
  const messages = [
    'no message',
    '{"jsonrpc":"2.0","method":"notifications/initialized"}',
    '{"jsonrpc":"2.0","id":7,"method":"ping"}',
  ];
  const env = { CI_INSIGHTS_URL: (await sharedService()).origin, CI_INSIGHTS_TOKEN: 'wrong' };
  const { code, stdout } = await runClient('node', ['mcp'], { env, input: `${messages.join('\n')}\n` });
  expect(code).toBe(0);
  const answers = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(answers).toEqual([
    expect.objectContaining({ id: null, error: expect.objectContaining({ code: -32_700 }) }),
    expect.objectContaining({ id: 7, error: { code: -32_603, message: expect.stringContaining('(401)') } }),
  ]);
});

test('the skill is the one of the service', async () => {
  const { code, stdout } = await runClient('node', ['skill']);
  const served = await (await sharedService()).fetch('/skill.md');
  expect([code, stdout]).toEqual([0, await served.text()]);
});
