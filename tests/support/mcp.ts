/** The MCP server of an app, asked by the client of the SDK. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { z } from 'zod';
import { ORIGIN, type TestApp } from './http.ts';

const resultSchema = z.object({
  content: z.tuple([z.object({ type: z.literal('text'), text: z.string() })]),
  isError: z.boolean().optional(),
});

interface ToolAnswer {
  text: string;
  /** What follows the note about marks. */
  json: Record<string, unknown>;
  isError: boolean;
}

export interface McpClient {
  client: Client;
  call(tool: string, input: Record<string, unknown>): Promise<ToolAnswer>;
}

/** A client that is connected. Every answer is checked against the OpenAPI document. */
export async function openMcp(
  app: Pick<TestApp, 'request' | 'adminToken'>,
  token = app.adminToken,
): Promise<McpClient> {
  const client = new Client({ name: 'test', version: '1' });
  const transport = new StreamableHTTPClientTransport(new URL('/mcp', ORIGIN), {
    fetch: (address, init) => app.request(String(address), { ...init, token }),
  });
  await client.connect(transport);
  return { client, call: async (name, input) => answerOf(await client.callTool({ name, arguments: input })) };
}

/** What a tool answered. */
export function answerOf(result: unknown): ToolAnswer {
  const { content, isError = false } = resultSchema.parse(result);
  const [{ text }] = content;
  const [, json = '{}'] = text.split('\n');
  return {
    text,
    json: z.record(z.string(), z.unknown()).parse(isError && !json.startsWith('{') ? {} : JSON.parse(json)),
    isError,
  };
}
