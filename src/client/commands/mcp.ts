/**
 * `ci-insights mcp`: the tools of the service for agents that start a program instead of asking an address. A bridge: what
 * comes in, a message on each line, goes to `/mcp`, and what that answers goes out.
 */
import { createInterface } from 'node:readline';
import { Command } from 'commander';
import { z } from 'zod';
import { jsonOf } from '../../domain/json.ts';
import { withTarget } from '../options.ts';
import { printExactly } from '../output.ts';
import { type Connection, Refusal, Service } from '../service.ts';
import { readClientEnvironment } from '../settings.ts';
import { connectionOf, type TargetFlags } from '../target.ts';

/** For one message: a tool may read a long history. */
const SECONDS_DEFAULT = 60;
/** Error codes of JSON-RPC: the service could not answer, or the message is not valid. */
const INTERNAL_ERROR = -32603;
const PARSE_ERROR = -32700;

const messageSchema = z.looseObject({
  id: z.union([z.string(), z.number()]).optional(),
  method: z.string().optional(),
  params: z
    .looseObject({
      name: z.string().optional(),
      uri: z.string().optional(),
      _meta: z.looseObject({ 'io.modelcontextprotocol/protocolVersion': z.string().optional() }).optional(),
    })
    .optional(),
});
/** A fault in the form of the protocol, such as of a version that the service does not speak. */
const faultSchema = z.looseObject({ jsonrpc: z.literal('2.0'), error: z.looseObject({ code: z.number() }) });
const answerSchema = z
  .looseObject({ result: z.looseObject({ protocolVersion: z.string().optional() }).optional() })
  .optional();

interface McpFlags extends TargetFlags {
  timeout: number;
}

export const mcpCommand = (): Command =>
  withTarget(new Command('mcp'), SECONDS_DEFAULT)
    .description('offer the tools for agents on standard input and output (MCP)')
    .action(async (flags: McpFlags) => {
      const bridge = new Bridge(flags);
      const waiting = new Set<Promise<void>>();
      for await (const line of createInterface({ input: process.stdin })) {
        if (line.trim() === '') continue;
        const answered = bridge.pass(line).finally(() => waiting.delete(answered));
        waiting.add(answered);
      }
      await Promise.all(waiting);
    });

class Bridge {
  readonly #connection: Connection;
  /** That both sides agreed on by `initialize`. */
  #protocol: string | undefined;

  constructor(private readonly flags: McpFlags) {
    this.#connection = connectionOf(flags, readClientEnvironment());
  }

  /** Answers a message on standard output; never throws. */
  async pass(line: string): Promise<void> {
    const message = messageSchema.safeParse(jsonOf(line));
    if (!message.success) return printExactly([faultOf(null, PARSE_ERROR, 'This is not a message of the protocol.')]);
    const { id } = message.data;
    try {
      const service = new Service(this.#connection, { totalMs: this.flags.timeout * 1_000 });
      const answer = await service.ask('/mcp', answerSchema, {
        method: 'POST',
        json: message.data,
        headers: {
          accept: 'application/json, text/event-stream',
          ...headersOf(message.data, this.#protocol),
        },
      });
      this.#protocol ??= answer?.result?.protocolVersion;
      if (answer !== undefined) printExactly([JSON.stringify(answer)]);
    } catch (error) {
      const fault = error instanceof Refusal ? faultSchema.safeParse(jsonOf(error.text)).data : undefined;
      if (fault) return printExactly([JSON.stringify(fault)]);
      // A notification is not answered.
      if (id !== undefined)
        printExactly([faultOf(id, INTERNAL_ERROR, error instanceof Error ? error.message : String(error))]);
    }
  }
}

/** What HTTP says beside a message. Since 2026-07-28 each message names its version, and the headers repeat what it asks. */
function headersOf(
  { method, params }: z.output<typeof messageSchema>,
  agreed: string | undefined,
): Record<string, string> {
  const named = params?._meta?.['io.modelcontextprotocol/protocolVersion'];
  const version = named ?? agreed;
  const what = params?.name ?? params?.uri;
  return {
    ...(version !== undefined && { 'mcp-protocol-version': version }),
    ...(named !== undefined && method !== undefined && { 'mcp-method': inHeader(method) }),
    ...(named !== undefined && what !== undefined && { 'mcp-name': inHeader(what) }),
  };
}

/** The form that the protocol gives to a text which no header may have. */
const inHeader = (text: string): string =>
  /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !text.startsWith('=?base64?')
    ? text
    : `=?base64?${Buffer.from(text).toString('base64')}?=`;

const faultOf = (id: string | number | null, code: number, message: string): string =>
  JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } });
