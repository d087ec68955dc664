/** `/mcp`: the tools of the service for agents, by the Model Context Protocol. And `/skill.md`: how to use them. */
import type { AnyElysia } from 'elysia';
import { z } from 'zod';
import { type Http, mount } from '../http/operation.ts';
import { publicUrlOf } from '../http/pages.ts';
import { forbidden, insufficientScope, PROBLEM_MEDIA_TYPE } from '../http/problems.ts';
import { isFromOwnPage } from '../http/same-origin.ts';
import skill from '../skill.md' with { type: 'text' };
import { authorizationOf, challengeOf, lackingScopeOf, mountAuthorization, QUARANTINE_SCOPE } from './authorization.ts';
import { type Handle, Rest } from './rest.ts';
import { answerMessage } from './server.ts';

const TAG = 'Service';
const MCP_PATH = '/mcp';
/** An error in the form of JSON-RPC. */
const FAULT = {
  mediaType: 'application/json',
  example: { jsonrpc: '2.0', id: null, error: { code: -32000, message: '…' } },
};
const SKILL_MAX_AGE_S = 300;

/** The protocol checks it in full, and answers in its own way. */
const messageSchema = z.looseObject({ jsonrpc: z.literal('2.0') });
const EXAMPLE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'what_failed', arguments: { repository: 'acme/shop', pull_request: 7 } },
};

const LOOPBACK = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/;

/**
 * A browser sends an origin for a page, and this address is for programs: a page of another site has no business here. Without a
 * public address, a page may have made its own name lead to this machine, so only loopback names are believed.
 */
function isFromOtherPage(request: Request, publicUrl: string | undefined): boolean {
  const origin = request.headers.get('origin');
  if (origin === null) return false;
  if (publicUrl !== undefined) return origin !== URL.parse(publicUrl)?.origin;
  return !(isFromOwnPage(request) && LOOPBACK.test(request.headers.get('host') ?? ''));
}

/** @param oidc the identity provider; undefined: clients need keys */
export function mountMcp(app: AnyElysia, http: Http, oidc: { issuer: string; scopes: string } | undefined): void {
  const authorization = authorizationOf(oidc, http.publicUrl);
  mountAuthorization(app, http, authorization);
  const handle: Handle = (request) => app.handle(request);

  mount(app, http, 'POST', MCP_PATH, {
    operationId: 'callMcp',
    tag: TAG,
    summary: 'Tools for agents, by the Model Context Protocol',
    description:
      'Streamable HTTP without sessions: one message with each request, one answer as JSON. Every tool asks operations of this API with the credential of the request, so access, limits and the trail are theirs; requests for the list of tools are not counted. `docs/agents.md` describes the tools.',
    access: 'credential',
    isRateLimited: false,
    challenge: (request) => challengeOf(authorization, request),
    body: messageSchema,
    bodyExample: EXAMPLE,
    responses: {
      200: {
        description: 'The answer, as JSON-RPC.',
        mediaType: 'application/json',
        example: { jsonrpc: '2.0', id: 1, result: {} },
      },
      202: { description: 'A notification was taken.' },
      400: { ...FAULT, description: 'Not a message of the protocol, or of a version that is not spoken here.' },
      401: {
        description: 'No acceptable credential. With an identity provider, the header says where to sign in.',
        mediaType: PROBLEM_MEDIA_TYPE,
        example: {
          type: 'about:blank',
          title: 'Unauthorized',
          status: 401,
          detail: 'This operation requires a credential.',
        },
        headers: { 'www-authenticate': { description: 'The challenge.', schema: { type: 'string' } } },
      },
      403: {
        description:
          'The scope of the key does not permit the tool: `WWW-Authenticate` says `insufficient_scope`, and the scope that does. Without that header: no rule names the person, or a page of another site asks.',
        mediaType: PROBLEM_MEDIA_TYPE,
        example: { type: 'about:blank', title: 'Forbidden', status: 403, detail: QUARANTINE_SCOPE },
        headers: {
          'www-authenticate': {
            description: 'The challenge, if another scope would help.',
            schema: { type: 'string' },
          },
        },
      },
      406: { ...FAULT, description: 'The client does not accept both `application/json` and `text/event-stream`.' },
    },
    handle: async ({ request, url, body, requestId, credential }) => {
      if (isFromOtherPage(request, http.publicUrl))
        throw forbidden('Pages of other sites may not use this address. Programs send no Origin.');
      const rest = new Rest(handle, request, requestId);
      const { href } = publicUrlOf(http.publicUrl, new URL('/app', url));
      const onFault = (error: unknown): void =>
        http.log.error({ err: error, request_id: requestId }, 'a tool for agents failed');
      const lacking = credential && lackingScopeOf(authorization, credential);
      const response = await answerMessage(request, body, { rest, app: href, lacking, onFault });
      const challenge = response.headers.get('www-authenticate');
      if (challenge !== null) throw insufficientScope(QUARANTINE_SCOPE, challenge);
      return response;
    },
  });

  mount(app, http, 'GET', '/skill.md', {
    operationId: 'getSkill',
    tag: TAG,
    summary: 'How an agent uses this service',
    description: 'Two pages of Markdown, which agents load as a skill. `ci-insights skill` prints the same.',
    access: 'public',
    responses: { 200: { description: 'The skill.', mediaType: 'text/markdown', example: '# ci-insights …' } },
    handle: () =>
      new Response(skill, {
        headers: {
          'content-type': 'text/markdown; charset=utf-8',
          'cache-control': `public, max-age=${SKILL_MAX_AGE_S}`,
        },
      }),
  });
}
