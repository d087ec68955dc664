/** Application keys over HTTP, for those who operate the service: list, make, revoke. */
import type { AnyElysia } from 'elysia';
import { z } from 'zod';
import { KEY_SCOPES } from '../domain/key-scope.ts';
import { ARRAY_LENGTH_MAX, NAME_LENGTH_MAX } from '../domain/limits.ts';
import { formatMoment } from '../domain/moment.ts';
import { boundsOfKey, KEY_BRANCHES_MAX, unboundable } from '../domain/report-bounds.ts';
import { ownerSchema, repositoryNameSchema } from '../domain/repository-path.ts';
import { auditActorOf } from '../http/auth.ts';
import { type Http, mount } from '../http/operation.ts';
import { enumParameter } from '../http/parameters.ts';
import { uuid } from '../http/path.ts';
import { notFound, unprocessable } from '../http/problems.ts';
import { text } from '../http/text.ts';
import type { ApplicationKey, KeyStore } from '../postgres/keys.ts';

const TAG = 'Service';
const ID_EXAMPLE = '01980f3e-5c1e-7b1c-8f5d-1f2e3d4c5b6a';
/** A key for people or machines that come and go should end. */
const DAYS_MAX = 3_650;
const DAY_MS = 86_400_000;

const moment = z.iso.datetime().nullable().meta({ example: '2026-12-05T09:30:00.000Z' });
const keyFields = {
  id: z.guid().meta({ example: ID_EXAMPLE }),
  name: z.string().meta({ example: 'shop CI' }),
  scope: z.enum(KEY_SCOPES).meta({ example: 'ci' }),
  owner: z.string().nullable().meta({ description: 'Null: every owner', example: 'acme' }),
  repositories: z
    .array(z.string())
    .nullable()
    .meta({ description: "Null: all of the owner's repositories", example: ['shop'] }),
  pull_requests_only: z.boolean().meta({
    description: "What it sends is never the default branch's, whatever it says",
    example: false,
  }),
  branches: z
    .array(z.string())
    .nullable()
    .meta({ description: 'Patterns of the branches that its reports may be of; null: of any', example: null }),
  ci_subject: z
    .string()
    .nullable()
    .meta({ description: "Subject of the CI's identity token for which it was made; null: an operator made it" }),
  created_at: z.iso.datetime().meta({ example: '2026-11-21T09:30:00.000Z' }),
  made_by: z.string().meta({ description: 'Who made it: a key, a person or a command', example: 'first admin key' }),
  expires_at: moment.meta({ description: 'Null: never' }),
  last_used_at: moment.meta({ description: 'To the minute; null: never' }),
  revoked_at: moment.meta({ description: 'Null: it works' }),
};
const keySchema = z.object(keyFields).meta({ id: 'ApplicationKey' });
const listSchema = z.object({ keys: z.array(keySchema) });
export type KeyList = z.output<typeof listSchema>;
const madeSchema = z.object({
  ...keyFields,
  token: z.string().meta({ description: 'What requests send; shown only here', example: 'cii_0b0sH2l9mEXAMPLE' }),
});
export type MadeKey = z.output<typeof madeSchema>;

const newKey = z.object({
  name: text(1, NAME_LENGTH_MAX).meta({ description: 'What it is for, shown in lists and events', example: 'shop CI' }),
  scope: z.enum(KEY_SCOPES).meta({ example: 'upload' }),
  owner: ownerSchema.nullable().meta({ description: 'Null: every owner', example: 'acme' }),
  repositories: z
    .array(repositoryNameSchema)
    .min(1)
    .max(ARRAY_LENGTH_MAX)
    .nullish()
    .meta({
      description: "Only these repositories of the owner; null or absent: all of the owner's",
      example: ['shop'],
    }),
  pull_requests_only: z.boolean().nullish().meta({
    description: "What it sends is never the default branch's, whatever it says; needs the scope `upload`",
    example: true,
  }),
  branches: z.array(text(1, NAME_LENGTH_MAX)).min(1).max(KEY_BRANCHES_MAX).nullish().meta({
    description: 'Its reports must be of a branch that matches one of these patterns; needs the scope `upload`',
    example: null,
  }),
  expires_in_days: z
    .int()
    .min(1)
    .max(DAYS_MAX)
    .nullish()
    .meta({ description: 'Null or absent: it never expires', example: 90 }),
});

const momentOf = (at: Date | null): string | null => (at === null ? null : formatMoment(at.getTime()));
const toJson = (key: ApplicationKey): z.input<typeof keySchema> => ({
  id: key.id,
  name: key.name,
  scope: key.scope,
  owner: key.owner,
  repositories: key.repositories,
  pull_requests_only: key.bounds?.pull_requests_only ?? false,
  branches: key.bounds?.branches ?? null,
  ci_subject: key.ciSubject,
  created_at: formatMoment(key.createdAt.getTime()),
  made_by: key.madeBy,
  expires_at: momentOf(key.expiresAt),
  last_used_at: momentOf(key.lastUsedAt),
  revoked_at: momentOf(key.revokedAt),
});

export function mountKeys(app: AnyElysia, http: Http, keys: KeyStore): void {
  mount(app, http, 'GET', '/v1/keys', {
    operationId: 'listKeys',
    tag: TAG,
    summary: 'List the application keys',
    description:
      'The keys that operators made, also revoked and expired ones, without their tokens; oldest first. Those that jobs got for an identity token of their CI are left out, unless asked for.',
    access: 'operator',
    query: {
      ci: enumParameter(['include', 'exclude'], {
        description: 'Whether to list the keys of CI jobs, too: `include` or `exclude`.',
        default: 'exclude',
      }),
    },
    responses: { 200: { description: 'The keys.', schema: listSchema } },
    handle: async ({ query }) => ({
      body: { keys: (await keys.list({ withCi: query.ci === 'include' })).map(toJson) },
    }),
  });

  mount(app, http, 'POST', '/v1/keys', {
    operationId: 'createKey',
    tag: TAG,
    summary: 'Make an application key',
    description: 'The answer has the token, which is shown only this once.',
    access: 'operator',
    body: newKey,
    bodyExample: { name: 'shop CI', scope: 'upload', owner: 'acme', repositories: ['shop'], expires_in_days: 90 },
    responses: { 201: { description: 'Made.', schema: madeSchema } },
    handle: async ({ body, credential, requestId }) => {
      const { name, scope, owner, repositories = null, expires_in_days: days } = body;
      const bounds = boundsOfKey(body.pull_requests_only ?? false, body.branches);
      const wrong = unboundable(scope, body.pull_requests_only ?? false, body.branches ?? null);
      if (wrong) throw unprocessable([{ loc: ['body', wrong.field], msg: wrong.msg, type: 'invalid_bounds' }]);
      if (owner === null && repositories !== null)
        throw unprocessable([
          { loc: ['body', 'repositories'], msg: 'are those of one owner: name the owner', type: 'missing_owner' },
        ]);
      const expiresAt = days ? new Date(http.clock.now() + days * DAY_MS) : null;
      const { key, token } = await keys.create(
        { name, scope, owner, repositories, bounds, expiresAt },
        auditActorOf(credential, requestId),
      );
      return { status: 201, body: { ...toJson(key), token }, headers: { 'cache-control': 'no-store' } };
    },
  });

  mount(app, http, 'DELETE', '/v1/keys/:key_id', {
    operationId: 'revokeKey',
    tag: TAG,
    summary: 'Revoke an application key',
    description: 'It stops working within two seconds, and so do the sessions that were made from it.',
    access: 'operator',
    params: z.object({ key_id: uuid('Id of the key, as returned by the list.', ID_EXAMPLE) }),
    responses: { 204: { description: 'Revoked.' } },
    handle: async ({ params, credential, requestId }) => {
      if (!(await keys.revoke(params.key_id, auditActorOf(credential, requestId))))
        throw notFound('There is no such key, or it is revoked. List the keys to see their ids.');
      return { status: 204 };
    },
  });
}
