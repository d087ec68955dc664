/**
 * The MCP server: tools, prompts and documents of the service for agents. One is made for each request and forgotten with
 * it, so that any replica may answer.
 */
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import type { CallToolResult, GetPromptResult } from '@modelcontextprotocol/sdk/types.js';
import { version } from '../../package.json' with { type: 'json' };
import { FENCE_NOTE } from '../domain/told-text.ts';
import { DOCUMENTS } from './documents.ts';
import { FAILURE_TOOLS } from './failure-tools.ts';
import { PROMPTS } from './prompts.ts';
import { QUARANTINE_TOOLS } from './quarantine-tools.ts';
import { RestRefusal } from './rest.ts';
import { TEST_TOOLS } from './test-tools.ts';
import { type Asking, refusalText, type Tool } from './tool.ts';

/** In the order in which clients show them. At most ten: each takes room in the context of every agent. */
const TOOLS: readonly Tool[] = [...FAILURE_TOOLS, ...TEST_TOOLS, ...QUARANTINE_TOOLS];

const INSTRUCTIONS = `Evidence about tests and failures of CI, from every run that was stored. Ask what_failed before you say whose fault a failure is; never call a failure flaky unless its verdict is flaky, which has the same code that passed to show for it. ${FENCE_NOTE} Answers have at most about 2,000 tokens: \`next_cursor\` leads on, and keys that end in \`_left_out\` say how much more there is.`;

/** Answers one message of a client. */
export async function answerMessage(request: Request, message: unknown, asking: Asking): Promise<Response> {
  const server = serverOf(asking);
  // Without sessions; an answer is JSON, because no tool reports progress.
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  await server.connect(transport);
  try {
    return await transport.handleRequest(request, { parsedBody: message });
  } finally {
    await server.close();
  }
}

function serverOf(asking: Asking): McpServer {
  const server = new McpServer({ name: 'ci-insights', version }, { instructions: INSTRUCTIONS });
  for (const { name, title, description, input, kind, run } of TOOLS)
    server.registerTool(
      name,
      {
        title,
        description,
        inputSchema: input,
        annotations: {
          readOnlyHint: kind === 'read',
          destructiveHint: kind === 'remove',
          idempotentHint: kind !== 'write',
          openWorldHint: false,
        },
      },
      async (given) => resultOf(() => run(given, asking), asking),
    );
  for (const { name, title, description, input, text } of PROMPTS) {
    const prompt = (given: Record<string, string | undefined>): GetPromptResult => ({
      messages: [{ role: 'user', content: { type: 'text', text: text(given) } }],
    });
    server.registerPrompt(name, { title, description, argsSchema: input }, prompt);
  }
  for (const { name, title, uri, text } of DOCUMENTS)
    server.registerResource(name, uri, { title, mimeType: 'text/markdown' }, () => ({
      contents: [{ uri, mimeType: 'text/markdown', text }],
    }));
  return server;
}

/** A refusal of the API is an answer that the model reads. Of a fault of ours it reads no details. */
async function resultOf(run: () => Promise<string>, { onFault }: Asking): Promise<CallToolResult> {
  const text = await run().catch((error: unknown) => {
    if (error instanceof RestRefusal) return { refused: refusalText(error) };
    onFault(error);
    return { refused: 'The service failed to answer. Its log has the reason; try again later.' };
  });
  return typeof text === 'string' ? resultIn(text, false) : resultIn(text.refused, true);
}

const resultIn = (text: string, isError: boolean): CallToolResult => ({ content: [{ type: 'text', text }], isError });
