/**
 * The MCP server: tools, prompts and documents of the service for agents. One is made for each request and forgotten with
 * it, so that any replica may answer.
 */
import {
  type CallToolResult,
  createMcpHandler,
  type GetPromptResult,
  isLegacyRequest,
  McpServer,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
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

/** No one subscribes: nothing here changes for a client that waits. */
const SUBSCRIPTIONS_MAX = 0;

/** Answers one message of a client, in the version of the protocol that it speaks. */
export async function answerMessage(request: Request, message: unknown, asking: Asking): Promise<Response> {
  const authInfo = authInfoOf(asking);
  const given = { parsedBody: message, ...(authInfo && { authInfo }) };
  if (await isLegacyRequest(request, message)) return answerBefore2026(request, given, asking);
  const handler = createMcpHandler(() => serverOf(asking), { legacy: 'reject', maxSubscriptions: SUBSCRIPTIONS_MAX });
  return handler.fetch(request, given);
}

/** Versions that begin with `initialize`. Without sessions; an answer is JSON, because no tool reports progress. */
async function answerBefore2026(
  request: Request,
  given: Parameters<WebStandardStreamableHTTPServerTransport['handleRequest']>[1],
  asking: Asking,
): Promise<Response> {
  const server = serverOf(asking);
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  await server.connect(transport);
  try {
    return await transport.handleRequest(request, given);
  } finally {
    await server.close();
  }
}

/** For the challenge only: tools ask with what the request has sent. */
const authInfoOf = ({ lacking }: Asking) =>
  lacking?.metadata === undefined
    ? undefined
    : { token: '', clientId: '', scopes: [], resourceMetadataUrl: lacking.metadata };

function serverOf(asking: Asking): McpServer {
  const server = new McpServer({ name: 'ci-insights', version }, { instructions: INSTRUCTIONS });
  for (const { name, title, description, input, kind, run } of TOOLS)
    server.registerTool(
      name,
      {
        title,
        description,
        inputSchema: z.object(input),
        annotations: {
          readOnlyHint: kind === 'read',
          destructiveHint: kind === 'remove',
          idempotentHint: kind !== 'write',
          openWorldHint: false,
        },
        // Answered with 403 before the tool is called.
        ...(kind !== 'read' && asking.lacking && { scopeChallenge: () => asking.lacking?.challenge }),
      },
      async (given) => resultOf(() => run(given, asking), asking),
    );
  for (const { name, title, description, input, text } of PROMPTS) {
    const prompt = (given: Record<string, string | undefined>): GetPromptResult => ({
      messages: [{ role: 'user', content: { type: 'text', text: text(given) } }],
    });
    server.registerPrompt(name, { title, description, argsSchema: z.object(input) }, prompt);
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
