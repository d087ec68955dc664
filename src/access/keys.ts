/** Application keys over HTTP, for those who operate the service: list, make, revoke. */
import type { AnyElysia } from 'elysia';
import { z } from 'zod';
import { KEY_SCOPES } from '../domain/key-scope.ts';
import { NAME_LENGTH_MAX } from '../domain/limits.ts';
import { formatMoment } from '../domain/moment.ts';
import { ownerSchema, repositoryNameSchema } from '../domain/repository-path.ts';
import { type Http, mount } from '../http/operation.ts';
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
  created_at: z.iso.datetime().meta({ example: '2026-11-21T09:30:00.000Z' }),
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
  scope: z.enum(KEY_SCOPES).meta({ example: 'ci' }),
  owner: ownerSchema.nullable().meta({ description: 'Null: every owner', example: 'acme' }),
  repositories: z
    .array(repositoryNameSchema)
    .min(1)
    .nullish()
    .meta({
      description: "Only these repositories of the owner; null or absent: all of the owner's",
      example: ['shop'],
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
  created_at: formatMoment(key.createdAt.getTime()),
  expires_at: momentOf(key.expiresAt),
  last_used_at: momentOf(key.lastUsedAt),
  revoked_at: momentOf(key.revokedAt),
});

export function mountKeys(app: AnyElysia, http: Http, keys: KeyStore): void {
  mount(app, http, 'GET', '/v1/keys', {
    operationId: 'listKeys',
    tag: TAG,
    summary: 'List the application keys',
    description: 'All keys, also revoked and expired ones, without their tokens; oldest first.',
    access: 'operator',
    responses: { 200: { description: 'The keys.', schema: listSchema } },
    handle: async () => ({ body: { keys: (await keys.list()).map(toJson) } }),
  });

  mount(app, http, 'POST', '/v1/keys', {
    operationId: 'createKey',
    tag: TAG,
    summary: 'Make an application key',
    description: 'The answer has the token, which is shown only this once.',
    access: 'operator',
    body: newKey,
    bodyExample: { name: 'shop CI', scope: 'ci', owner: 'acme', repositories: ['shop'], expires_in_days: 90 },
    responses: { 201: { description: 'Made.', schema: madeSchema } },
    handle: async ({ body: { name, scope, owner, repositories = null, expires_in_days: days } }) => {
      if (owner === null && repositories !== null)
        throw unprocessable([
          { loc: ['body', 'repositories'], msg: 'are those of one owner: name the owner', type: 'missing_owner' },
        ]);
      const expiresAt = days ? new Date(http.clock.now() + days * DAY_MS) : null;
      const { key, token } = await keys.create({ name, scope, owner, repositories, expiresAt });
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
    handle: async ({ params }) => {
      if (!(await keys.revoke(params.key_id)))
        throw notFound('There is no such key, or it is revoked. List the keys to see their ids.');
      return { status: 204 };
    },
  });
}
