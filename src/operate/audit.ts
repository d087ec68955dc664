/** The trail of who gave or took access, and who changed what people decide, for operators. */
import type { AnyElysia } from 'elysia';
import { z } from 'zod';
import type { Clock } from '../clock.ts';
import { AUDIT_ACTIONS, AUDIT_ACTOR_KINDS } from '../domain/audit.ts';
import { NAME_LENGTH_MAX } from '../domain/limits.ts';
import { formatMoment, MOMENT_MIN } from '../domain/moment.ts';
import { DAY_MS } from '../domain/time.ts';
import type { Window } from '../domain/window.ts';
import { keyMoment } from '../http/cursor.ts';
import { type Http, mount } from '../http/operation.ts';
import { LINK, type PagedList, pageReply, publicUrlOf, readPage } from '../http/pages.ts';
import {
  cursorParameter,
  enumsParameter,
  momentParameter,
  perPageParameter,
  type QueryOf,
  textParameter,
} from '../http/parameters.ts';
import { unprocessable } from '../http/problems.ts';
import { type AuditEntry, type AuditKey, listAudit } from '../postgres/audit.ts';
import type { Database } from '../postgres/client.ts';

const WINDOW_DAYS = 30;
const ID_EXAMPLE = '01980f3e-5c1e-7b1c-8f5d-1f2e3d4c5b6a';

const details = z.record(z.string(), z.unknown()).nullable();
const entrySchema = z
  .object({
    id: z.guid().meta({ example: ID_EXAMPLE }),
    at: z.iso.datetime().meta({ example: '2026-11-21T10:00:00.000Z' }),
    actor: z.object({
      kind: z.enum(AUDIT_ACTOR_KINDS).meta({ example: 'session' }),
      name: z.string().meta({ description: 'Of the key, the person, the command or the rule', example: 'ann' }),
      key_id: z
        .guid()
        .nullable()
        .meta({ description: 'Of a key, and of a session that was made from one', example: ID_EXAMPLE }),
      session_id: z.guid().nullable().meta({ example: ID_EXAMPLE }),
      subject: z.string().nullable().meta({
        description: 'Who the person is at the identity provider, or at the system on which a command ran',
        example: '00u1ab2cd3EF',
      }),
    }),
    action: z.enum(AUDIT_ACTIONS).meta({ example: 'key.create' }),
    object: z.object({
      id: z.string().nullable().meta({ example: ID_EXAMPLE }),
      name: z.string().nullable().meta({ example: 'shop CI' }),
    }),
    owner: z.string().nullable().meta({ description: 'Null: every owner, or none', example: 'acme' }),
    repository: z.string().nullable().meta({ example: 'shop' }),
    before: details.meta({ description: 'What was changed or removed, as it was', example: null }),
    after: details.meta({ description: 'What was changed or made, as it is since', example: { scope: 'ci' } }),
    request_id: z.string().nullable().meta({
      description: 'Under which the logs of the service and of proxies before it have the request',
      example: '0198f3a2-6c1e-7b1c-8f5d-1f2e3d4c5b6b',
    }),
  })
  .meta({ id: 'AuditEntry' });

const listSchema = z.object({
  size: z.int().meta({ description: 'Items in this page', example: 1 }),
  per_page: z.int().meta({ description: 'Items per page', example: 10 }),
  entries: z.array(entrySchema),
});
export type AuditList = z.output<typeof listSchema>;

const query = {
  actor: textParameter(1, NAME_LENGTH_MAX, {
    description: 'Only what this actor did: a name as entries show it, or the id of a key or of a session.',
    example: 'ann',
  }),
  action: enumsParameter(AUDIT_ACTIONS, {
    description: 'Only this action. Repeat it for several.',
    example: ['key.create'],
  }),
  owner: textParameter(1, NAME_LENGTH_MAX, { description: 'Only what concerns this owner.', example: 'acme' }),
  repository: textParameter(1, NAME_LENGTH_MAX, {
    description: 'Only what concerns this repository of the owner; needs `owner`.',
    example: 'shop',
  }),
  from: momentParameter({
    description: `Start of the window, inclusive; defaults to ${WINDOW_DAYS} days before its end.`,
    example: '2026-11-01T00:00:00Z',
  }),
  to: momentParameter({
    description: 'End of the window, exclusive; defaults to now.',
    example: '2026-11-22T00:00:00Z',
  }),
  cursor: cursorParameter(),
  per_page: perPageParameter(),
};
type Asked = QueryOf<typeof query>;

const list: PagedList<AuditEntry, AuditKey> = {
  name: 'audit',
  keySchema: z.tuple([keyMoment, z.guid()]),
  keyOf: ({ at, id }) => [at.getTime(), id],
};

export function mountAudit(app: AnyElysia, http: Http, { db, clock }: { db: Database; clock: Clock }): void {
  mount(app, http, 'GET', '/v1/audit', {
    operationId: 'listAudit',
    tag: 'Service',
    summary: 'List who changed what',
    description:
      'Who made and revoked keys, which jobs of a CI got keys for their identity tokens (`key.exchange`: an entry counts those of a day, a repository and a kind of rights), who signed in and out, ended sessions, changed settings, renamed repositories, quarantined and released tests, asked for backtests and verifications, started and cancelled imports, and replayed dead letters; newest first. Kept for a year, or as `AUDIT_RETENTION_DAYS` says, also when what an entry speaks of is gone. For keys of every owner with the scope admin.',
    access: 'operator',
    query,
    responses: { 200: { description: 'A page of entries.', schema: listSchema, headers: LINK } },
    handle: async ({ query: asked, url }) => {
      const { actor, action: actions, owner, repository: name, from, to } = asked;
      if (name !== undefined && owner === undefined)
        throw unprocessable([
          { loc: ['query', 'owner'], msg: 'is missing: repository names one of an owner', type: 'missing_owner' },
        ]);
      const filters = { actor, actions, repository: owner === undefined ? undefined : { owner, name } };
      const page = await readPage(
        list,
        {
          path: {},
          query: asked,
          filters: { ...filters, from, to },
          window: (first = windowOf(asked, clock.now())) => first,
          url: publicUrlOf(http.publicUrl, url),
        },
        ({ perPage, ...request }) => listAudit(db, { ...filters, ...request, rows: perPage + 1 }),
      );
      return pageReply(page, 'entries', auditJson);
    },
  });
}

/** Throws 422 for an empty window. */
function windowOf({ from, to }: Asked, now: number): Window {
  // This millisecond belongs to it.
  const end = to ?? now + 1;
  const start = from ?? Math.max(end - WINDOW_DAYS * DAY_MS, MOMENT_MIN);
  if (start < end) return { start, end };
  throw unprocessable([
    { loc: ['query', 'from'], msg: 'must be before to, which defaults to now', type: 'invalid_window' },
  ]);
}

const detailsOf = (text: string | null): Record<string, unknown> | null =>
  text === null ? null : z.record(z.string(), z.unknown()).parse(JSON.parse(text));

/** An entry as the API and the command show it. */
export const auditJson = (entry: AuditEntry): z.input<typeof entrySchema> => ({
  id: entry.id,
  at: formatMoment(entry.at.getTime()),
  actor: {
    kind: z.enum(AUDIT_ACTOR_KINDS).parse(entry.actorKind),
    name: entry.actorName,
    key_id: entry.keyId,
    session_id: entry.sessionId,
    subject: entry.subject,
  },
  action: z.enum(AUDIT_ACTIONS).parse(entry.action),
  object: { id: entry.objectId, name: entry.objectName },
  owner: entry.owner,
  repository: entry.repository,
  before: detailsOf(entry.before),
  after: detailsOf(entry.after),
  request_id: entry.requestId,
});
