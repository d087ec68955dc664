/** Saved views of a repository: list, save and delete. */
import type { AnyElysia } from 'elysia';
import { z } from 'zod';
import type { Clock } from '../clock.ts';
import { REQUEST_LIMITS } from '../domain/limit-table.ts';
import { VIEW_NAME_LENGTH_MAX, VIEW_QUERY_LENGTH_MAX } from '../domain/limits.ts';
import type { RepositoryName } from '../domain/repository-path.ts';
import { VIEW_PAGES, VIEW_QUERY, type ViewHolder } from '../domain/saved-views.ts';
import { auditActorOf, type Credential } from '../http/auth.ts';
import { type Http, mount } from '../http/operation.ts';
import { owner, repository, uuid } from '../http/path.ts';
import { conflict, forbidden, notFound, unprocessable } from '../http/problems.ts';
import { text } from '../http/text.ts';
import type { Database } from '../postgres/client.ts';
import type { RepositoryStore } from '../postgres/repositories.ts';
import { findView, isForEveryone, listViews, removeView, type SavedView, saveView } from '../postgres/saved-views.ts';

const TAG = 'Repositories';
const ADDRESS = '/v1/ci/:owner/repositories/:repository/views';
const ID_EXAMPLE = '01980f3e-5c1e-7b1c-8f5d-1f2e3d4c5b6a';
const path = z.object({ owner, repository });

const name = text(1, VIEW_NAME_LENGTH_MAX);
const page = z.enum(VIEW_PAGES);
const query = text(0, VIEW_QUERY_LENGTH_MAX).refine((value) => VIEW_QUERY.test(value), {
  error: 'must be the query of an address, percent-encoded, without the question mark',
});
const NAME = { description: 'What it is called; once among yours, and once among those of everyone', example: 'Flaky' };
const PAGE = { description: 'The list page of the web application', example: 'tests' };
const QUERY = {
  description: 'What narrows and orders the page: the query of its address, without the question mark',
  example: 'health=flaky&sort=last_failure_at',
};
const SHARED = { description: 'For everyone who may read the repository', example: false };

export const newView = z.strictObject({
  name: name.meta({ ...NAME, minLength: 1, maxLength: VIEW_NAME_LENGTH_MAX }),
  page: page.meta(PAGE),
  query: query.default('').meta({ ...QUERY, maxLength: VIEW_QUERY_LENGTH_MAX }),
  is_shared: z.boolean().default(false).meta(SHARED),
});
export type NewSavedView = z.input<typeof newView>;

const view = z
  .object({
    id: z.guid().meta({ example: ID_EXAMPLE }),
    name: z.string().meta(NAME),
    page: page.meta(PAGE),
    query: z.string().meta(QUERY),
    is_shared: z.boolean().meta(SHARED),
    created_by: z.string().meta({ description: 'The login, or the name of the key, that saved it', example: 'ann' }),
    created_at: z.iso.datetime().meta({ example: '2026-11-21T10:00:00.000Z' }),
  })
  .meta({ id: 'SavedView' });
const list = z.object({ views: z.array(view).meta({ description: 'By name' }) }).meta({ id: 'SavedViewList' });
export type SavedViewList = z.output<typeof list>;

const viewJson = (row: SavedView): z.output<typeof view> => ({
  ...{ id: row.id, name: row.name, page: row.page, query: row.query },
  is_shared: isForEveryone(row),
  created_by: row.actor,
  created_at: row.createdAt.toISOString(),
});

/** Who asks, as the one whose views they are. The sessions of a key are the key; those of a person are the person. */
function holderOf(credential: Credential | undefined): ViewHolder {
  if (!credential) throw forbidden('This operation requires a credential.');
  const { actor, application, session, subject } = credential;
  const person = session?.subject ?? subject;
  if (person !== undefined && person !== null) return { kind: 'person', name: person };
  if (application) return { kind: 'key', keyId: application.id };
  return { kind: session ? 'link' : 'login', name: actor };
}

/** Throws 403 unless the credential may decide for everyone. */
async function requireSharing(credential: Credential | undefined, of: RepositoryName): Promise<void> {
  if ((await credential?.access(of, 'quarantine')) === 'granted') return;
  throw forbidden(
    'This credential may not change views of everyone in this repository. Use one that may quarantine its tests, or save a view for yourself.',
  );
}

interface ViewDeps {
  db: Database;
  clock: Clock;
  repositories: RepositoryStore;
}

export function mountViews(app: AnyElysia, http: Http, { db, clock, repositories }: ViewDeps): void {
  mount(app, http, 'GET', ADDRESS, {
    operationId: 'listViews',
    tag: TAG,
    summary: 'List saved views',
    description: 'Those of everyone, and your own.',
    access: 'read',
    params: path,
    responses: { 200: { description: 'The views.', schema: list } },
    handle: async ({ params, credential }) => {
      const found = await repositories.find(params.owner, params.repository);
      const views = found ? await listViews(db, found.id, holderOf(credential)) : [];
      return { body: { views: views.map(viewJson) } };
    },
  });

  mount(app, http, 'POST', ADDRESS, {
    operationId: 'saveView',
    tag: TAG,
    summary: 'Save a view',
    description:
      'Keeps a list page of the web application, with what narrows and orders it, under a name: for the person or key that asks, or with `is_shared` for everyone, which takes the right to quarantine. 404 if the repository has no data; 409 if the name is taken, in any case of letters; 422 beyond the number of views that one may have (limits of requests).',
    access: 'read',
    params: path,
    body: newView,
    bodyExample: { name: 'Flaky, newest first', page: 'tests', query: 'health=flaky&sort=last_failure_at' },
    responses: { 201: { description: 'Saved.', schema: view } },
    handle: async ({ params, body: { is_shared: isShared, ...wanted }, credential, requestId }) => {
      if (isShared) await requireSharing(credential, { owner: params.owner, name: params.repository });
      const found = await repositories.find(params.owner, params.repository);
      if (!found) throw notFound('There is nothing to view in this repository yet: send a first report.');
      const by = { by: auditActorOf(credential, requestId), now: clock.now() };
      const saved = await saveView(db, found, { ...wanted, isShared }, holderOf(credential), by);
      if (saved === 'taken')
        throw conflict(`There is a view called '${wanted.name}' already. Delete it first, or choose another name.`);
      if (typeof saved === 'string')
        throw unprocessable([{ loc: ['body'], msg: REQUEST_LIMITS[saved].sentence(), type: 'no_room' }]);
      return { status: 201, body: viewJson(saved) };
    },
  });

  mount(app, http, 'DELETE', `${ADDRESS}/:view_id`, {
    operationId: 'deleteView',
    tag: TAG,
    summary: 'Delete a saved view',
    description: 'Your own, or with the right to quarantine one of everyone.',
    access: 'read',
    params: path.extend({ view_id: uuid('Id of the view, as returned by the list.', ID_EXAMPLE) }),
    responses: { 204: { description: 'Deleted.' } },
    handle: async ({ params, credential, requestId }) => {
      const found = await repositories.find(params.owner, params.repository);
      const existing = found && (await findView(db, found.id, holderOf(credential), params.view_id));
      if (existing && isForEveryone(existing))
        await requireSharing(credential, { owner: params.owner, name: params.repository });
      const by = { by: auditActorOf(credential, requestId), now: clock.now() };
      if (!existing || !(await removeView(db, found, existing, by)))
        throw notFound('There is no such view, or it is not yours. List the views to see their ids.');
      return { status: 204 };
    },
  });
}
