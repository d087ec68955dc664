/** Signing in and out with a browser, who is signed in, and the sessions that there are. */
import type { AnyElysia } from 'elysia';
import { z } from 'zod';
import { KEY_SCOPES } from '../domain/key-scope.ts';
import { SIGN_IN_BODY_BYTES_MAX } from '../domain/limits.ts';
import { formatMoment } from '../domain/moment.ts';
import { auditActorOf, type Credential, countedAsKey, isOperator } from '../http/auth.ts';
import { type Http, mount } from '../http/operation.ts';
import { uuid } from '../http/path.ts';
import { forbidden, notFound } from '../http/problems.ts';
import { tooManyRequests } from '../http/rate-limit.ts';
import { hasSecureSession, isReachedSecurely, noSessionCookie, sessionCookie } from '../http/session-cookie.ts';
import { text } from '../http/text.ts';
import { noteActor } from '../observability/requests.ts';
import type { KeyStore } from '../postgres/keys.ts';
import { isPass, PASS_MINUTES, SESSIONS_OF_KEY_MAX, type Session, type SessionStore } from '../postgres/sessions.ts';

interface SessionDeps {
  keys: KeyStore;
  sessions: SessionStore;
}

const TAG = 'Service';
const KEY_LENGTH_MAX = 200;
/** Sign-ins of a kind that are answered at a time: anyone may begin one. */
export const SIGN_INS_AT_ONCE_MAX = 16;

const USED_LINK = `This link has signed someone in already, or is older than ${PASS_MINUTES} minutes. Make another one where the service runs: \`ci-insights sessions link\`. Or sign in with a key.`;

const moment = z.iso.datetime().meta({ example: '2026-12-05T09:30:00.000Z' });
const grantFields = {
  actor: z.string().meta({ description: 'In whose name it acts: the name of a key, or a login', example: 'ann' }),
  scope: z
    .enum(KEY_SCOPES)
    .nullable()
    .meta({ description: 'Null for a token of the repository host, which decides itself', example: 'view' }),
  owner: z.string().nullable().meta({ description: 'Null: every owner', example: 'acme' }),
  repositories: z
    .array(z.string())
    .nullable()
    .meta({ description: "Null: all of the owner's repositories", example: ['shop'] }),
};

const currentSchema = z
  .object({
    ...grantFields,
    is_from_provider: z.boolean().meta({ description: 'Whether the identity provider gave it', example: false }),
    is_operator: z.boolean().meta({ description: 'Whether it may operate the service', example: false }),
    expires_at: moment.nullable().meta({ description: 'When the session ends; null for other credentials' }),
  })
  .meta({ id: 'CredentialInUse' });
export type CredentialInUse = z.infer<typeof currentSchema>;

const listedSchema = z
  .object({
    id: z.guid().meta({ example: '01980f3e-5c1e-7b1c-8f5d-1f2e3d4c5b6a' }),
    ...grantFields,
    created_at: moment,
    last_used_at: moment.meta({ description: 'To the minute' }),
    expires_at: moment,
  })
  .meta({ id: 'Session' });

const listSchema = z.object({ sessions: z.array(listedSchema) });
export type SessionList = z.infer<typeof listSchema>;

const signIn = z.object({
  key: text(1, KEY_LENGTH_MAX).meta({
    description: 'An application key, or a pass of a link that signs in once',
    example: 'cii_0b0sH2l9mEXAMPLE',
  }),
});

const describe = ({ actor, grant, session }: Pick<Credential, 'actor' | 'grant' | 'session'>): CredentialInUse => ({
  actor,
  scope: grant?.scope ?? null,
  owner: grant?.owner ?? null,
  repositories: grant?.repositories ? [...grant.repositories] : null,
  is_from_provider: session?.subject != null,
  is_operator: isOperator({ ...(grant && { grant }) }),
  expires_at: session ? formatMoment(session.expiresAt.getTime()) : null,
});

const listed = ({ id, actor, scope, owner, repositories, createdAt, lastUsedAt, expiresAt }: Session) => ({
  id,
  actor,
  scope,
  owner,
  repositories,
  created_at: formatMoment(createdAt.getTime()),
  last_used_at: formatMoment(lastUsedAt.getTime()),
  expires_at: formatMoment(expiresAt.getTime()),
});

export function mountSessions(app: AnyElysia, http: Http, { keys, sessions }: SessionDeps): void {
  const cookieHeader = { 'set-cookie': { description: 'The cookie.', schema: { type: 'string' } } };

  const beginFrom = async (token: string, requestId: string) => {
    const key = await keys.authenticate(token);
    if (!key) return sessions.redeem(token, requestId);
    const { id: keyId, name: actor, scope, owner, repositories, bounds } = key;
    const { rateLimit } = http;
    const count = await rateLimit?.count(countedAsKey(keyId));
    if (rateLimit && count && count.requests > rateLimit.requestsMax) throw tooManyRequests(rateLimit, count);
    return sessions.begin({ keyId, actor, scope, owner, repositories, bounds }, { requestId });
  };

  mount(app, http, 'POST', '/v1/session', {
    operationId: 'signIn',
    tag: TAG,
    summary: 'Sign in with an application key',
    description: `For browsers: gives a session that may do what the key may, as a cookie that no script can read. It ends after 14 days, by signing out, when it is revoked, and with the key; and of more than ${SESSIONS_OF_KEY_MAX} sessions of a key the oldest. Refused to pages of other sites.`,
    access: 'public',
    isForOwnPages: true,
    countsRequests: true,
    body: signIn,
    bodyBytesMax: SIGN_IN_BODY_BYTES_MAX,
    atOnceMax: SIGN_INS_AT_ONCE_MAX,
    bodyExample: { key: 'cii_0b0sH2l9mEXAMPLE' },
    responses: { 201: { description: 'Signed in.', schema: currentSchema, headers: cookieHeader } },
    handle: async ({ body, request, requestId }) => {
      const begun = await beginFrom(body.key.trim(), requestId);
      if (!begun) throw forbidden(isPass(body.key.trim()) ? USED_LINK : 'The key is unknown, expired or revoked.');
      const { session, token } = begun;
      const { id: session_id, keyId, actor, scope, owner, repositories } = session;
      noteActor(request, { actor, session_id, key_id: keyId ?? undefined });
      const isSecure = isReachedSecurely(http.publicUrl, request);
      return {
        status: 201,
        body: describe({ actor, grant: { scope, owner, repositories }, session }),
        headers: { 'set-cookie': sessionCookie(token, session.expiresAt.getTime() - http.clock.now(), isSecure) },
      };
    },
  });

  mount(app, http, 'GET', '/v1/session', {
    operationId: 'getSession',
    tag: TAG,
    summary: 'Get the credential in use',
    description: 'Who this request acts for, and what it may do; for sessions, keys and tokens of the repository host.',
    access: 'credential',
    responses: { 200: { description: 'The credential in use.', schema: currentSchema } },
    handle: ({ credential }) => {
      if (!credential) throw forbidden('This operation requires a credential.');
      return { body: describe(credential) };
    },
  });

  mount(app, http, 'DELETE', '/v1/session', {
    operationId: 'signOut',
    tag: TAG,
    summary: 'Sign out',
    description: 'Ends the session of this request and takes its cookie away.',
    access: 'credential',
    responses: { 204: { description: 'Signed out.', headers: cookieHeader } },
    handle: async ({ credential, request, requestId }) => {
      if (!credential?.session)
        throw forbidden('This credential is not a session. To end a key, use `ci-insights keys revoke`.');
      await sessions.end(credential.session.id, auditActorOf(credential, requestId), 'signed out');
      const isSecure = hasSecureSession(request, http.publicUrl);
      return { status: 204, headers: { 'set-cookie': noSessionCookie(isSecure) } };
    },
  });

  mount(app, http, 'GET', '/v1/sessions', {
    operationId: 'listSessions',
    tag: TAG,
    summary: 'List the sessions of browsers',
    description: 'Those that have not ended, the newest first.',
    access: 'operator',
    responses: { 200: { description: 'The sessions.', schema: listSchema } },
    handle: async () => ({ body: { sessions: (await sessions.list()).map(listed) } }),
  });

  mount(app, http, 'DELETE', '/v1/sessions/:session_id', {
    operationId: 'revokeSession',
    tag: TAG,
    summary: 'Revoke the session of a browser',
    description: 'It stops working immediately in this process and within two seconds in others.',
    access: 'operator',
    params: z.object({
      session_id: uuid('Id of the session, as returned by the list.', '01980f3e-5c1e-7b1c-8f5d-1f2e3d4c5b6a'),
    }),
    responses: { 204: { description: 'Revoked.' } },
    handle: async ({ params, credential, requestId }) => {
      if (!(await sessions.end(params.session_id, auditActorOf(credential, requestId), 'revoked')))
        throw notFound('There is no such session, or it has ended. List the sessions to see their ids.');
      return { status: 204 };
    },
  });
}
