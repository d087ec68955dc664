/**
 * A session of an agent with a service, such as the demo's, by the client of the MCP SDK: CI is red on a pull request, whose
 * fault is it, what is the evidence, and a quarantine with a ticket for what is flaky.
 *
 * CI_INSIGHTS_URL=http://127.0.0.1:3000 CI_INSIGHTS_TOKEN=cii_… bun scripts/agent-session.ts acme/shop 691
 */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { z } from 'zod';
import { cutMiddle, tokensOf } from '../src/domain/told-text.ts';

const SHOWN = 700;
const DAY_MS = 86_400_000;
const resultSchema = z.object({ content: z.tuple([z.object({ text: z.string() })]), isError: z.boolean().optional() });
const failedSchema = z.object({
  claims: z.array(
    z.object({
      verdict: z.string(),
      test_id: z.string(),
      test_name: z.string(),
      exception_message: z.string().optional(),
    }),
  ),
});

const quarantinesSchema = z.object({ quarantined_tests: z.array(z.object({ id: z.string() })) });

const [repository = 'acme/shop', pull = ''] = process.argv.slice(2);
const client = new Client({ name: 'agent-session', version: '1' }, { versionNegotiation: { mode: 'auto' } });
const url = new URL('/mcp', process.env.CI_INSIGHTS_URL ?? 'http://127.0.0.1:3000');
const headers = { authorization: `Bearer ${process.env.CI_INSIGHTS_TOKEN ?? ''}` };
await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));

/** Calls a tool, prints the beginning of what it answers, and returns the JSON. */
async function call(name: string, input: Record<string, unknown>): Promise<unknown> {
  const result = resultSchema.parse(await client.callTool({ name, arguments: { repository, ...input } }));
  const [{ text }] = result.content;
  const [, json = '{}'] = text.split('\n');
  console.log(`\n> ${name} ${JSON.stringify(input)}`);
  console.log(`${result.isError ? 'refused: ' : ''}${cutMiddle(json, SHOWN)}  (${tokensOf(text)} tokens at most)`);
  if (result.isError) process.exit(1);
  return JSON.parse(json);
}

const say = (text: string): void => console.log(`\n${text}`);
/** Without the marks of told text, to be passed on. */
const plain = (marked: string): string => marked.replace(/^⟦|⟧$/g, '');

say(`CI is red on pull request ${pull} of ${repository}. Whose fault is it?`);
const { claims } = failedSchema.parse(await call('what_failed', { pull_request: Number(pull), limit: 20 }));
const byVerdict = Map.groupBy(claims, ({ verdict }) => verdict);
say([...byVerdict].map(([verdict, of]) => `${verdict}: ${of.length}`).join(', '));

const notFlaky = claims.filter(({ verdict }) => verdict === 'change' || verdict === 'unknown');
for (const { test_name: name, verdict, exception_message: message = '' } of notFlaky.slice(0, 1)) {
  say(`${name}: ${verdict}. Does anything on the default branch fail like it?`);
  await call('find_causes', { text: plain(message), limit: 3 });
}
for (const { test_id: test, test_name: name, verdict } of (byVerdict.get('flaky') ?? []).slice(0, 1)) {
  say(`${name}: ${verdict}. What shows it, and how far is the test from healthy?`);
  await call('get_test', { test });
  await call('get_recovery', { test });
  const { quarantined_tests: open } = quarantinesSchema.parse(await call('list_quarantines', { test_id: test }));
  say(
    open.length > 0
      ? 'It is quarantined by the service. The person agrees to a quarantine with their ticket in its place.'
      : 'The person agrees to a quarantine for two weeks, with a ticket.',
  );
  for (const { id } of open) await call('release_quarantine', { quarantine_id: id });
  await call('quarantine_test', {
    test_name: plain(name),
    reason: `Failed on pull request ${pull} as it does on the default branch, where the same code passed and failed`,
    ticket_url: 'https://tickets.example/SHOP-1234',
    expires_at: new Date(Date.now() + 14 * DAY_MS).toISOString(),
  });
  await call('list_quarantines', { test_id: test });
}
await client.close();
