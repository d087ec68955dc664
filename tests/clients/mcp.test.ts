/** `ci-insights mcp` and `ci-insights skill`: the downloaded client on Node, started by the client of the SDK. */
import { expect, test } from 'bun:test';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { answerOf } from '../support/mcp.ts';
import { clientFile, commandOf, RUNTIMES, runClient } from './support/client.ts';
import { machine } from './support/run.ts';
import { sharedService } from './support/service.ts';
import { FLAKY, shopWithHistory } from './support/shop.ts';

test.each(RUNTIMES)('a client that starts a program gets the tools, on %s', async (runtime) => {
  const [service, repository] = [await sharedService(), `acme/${await shopWithHistory()}`];
  const transport = new StdioClientTransport({
    command: commandOf(runtime),
    args: [await clientFile(), 'mcp'],
    env: { ...machine(), CI_INSIGHTS_URL: service.origin, CI_INSIGHTS_TOKEN: service.token },
  });
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(transport);
  expect((await client.listTools()).tools).toHaveLength(10);
  const calls = Array.from({ length: 5 }, () =>
    client.callTool({ name: 'get_test', arguments: { repository, test: `shop.${FLAKY.name}` } }),
  );
  for (const result of await Promise.all(calls))
    expect(answerOf(result).json).toMatchObject({ health_status: 'flaky', test_name: `⟦shop.${FLAKY.name}⟧` });
  await client.close();
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
