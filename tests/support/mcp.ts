/** The MCP server of an app, asked by the client of the SDK. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
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

/** The newest version of the protocol, and the one before, which begins with `initialize`. */
export const PROTOCOLS = ['2026-07-28', '2025-11-25'] as const;
export type Protocol = (typeof PROTOCOLS)[number];

/** How a client is made to speak a version. */
export const speaking = (protocol: Protocol) => ({
  versionNegotiation: { mode: protocol === '2026-07-28' ? { pin: protocol } : ('legacy' as const) },
});

/** A client that is connected. Every answer is checked against the OpenAPI document. */
export async function openMcp(
  app: Pick<TestApp, 'request' | 'adminToken'>,
  token = app.adminToken,
  protocol: Protocol = '2026-07-28',
): Promise<McpClient> {
  const client = new Client({ name: 'test', version: '1' }, speaking(protocol));
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
