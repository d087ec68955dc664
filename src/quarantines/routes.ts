/** The quarantine operations (spec §4.8 to §4.11), and the check that older clients ask for (design §6). */
import type { AnyElysia } from 'elysia';
import { encodeBody, type Http, mount } from '../http/operation.ts';
import { LINK } from '../http/pages.ts';
import { andThen } from '../maybe-promise.ts';
import type { Quarantine } from '../postgres/quarantines.ts';
import { appliesTo, filtered, type QuarantineFilters } from './page.ts';
import * as schemas from './schemas.ts';
import {
  createQuarantine,
  getQuarantine,
  listOf,
  pageOfQuarantines,
  type QuarantineDeps,
  removeQuarantine,
} from './service.ts';
import { mountTestStates } from './test-states.ts';

const TAG = 'CI quarantine';
const BASE = '/v1/ci/:owner/repositories/:repository/quarantines';

export function mountQuarantines(app: AnyElysia, http: Http, deps: QuarantineDeps): void {
  mountList(app, http, deps);
  mountCreate(app, http, deps);
  mountGet(app, http, deps);
  mountRemove(app, http, deps);
  mountCheck(app, http, deps);
  mountTestStates(app, http, deps);
}

function mountList(app: AnyElysia, http: Http, deps: QuarantineDeps): void {
  mount(app, http, 'GET', BASE, {
    operationId: 'listQuarantines',
    tag: TAG,
    summary: 'List quarantined tests',
    description:
      'In order of creation. With `per_page` in pages; without it the whole list in one response, with `per_page: null`, which is kept for older clients.',
    access: 'read',
    params: schemas.repositoryPath,
    query: schemas.listQuery,
    responses: { 200: { description: 'The quarantines.', schema: schemas.listSchema, headers: LINK } },
    handle: ({ params: path, query, url }) => {
      const filters: QuarantineFilters = { branch: query.branch, testId: query.test_id, source: query.source };
      const isPaged = query.per_page !== undefined || (query.cursor ?? '') !== '';
      if (isPaged) {
        const of = { list: 'quarantines', filters, matching: (all: readonly Quarantine[]) => filtered(all, filters) };
        const address = { url, publicUrl: http.publicUrl };
        return pageOfQuarantines(deps, path, query, of, address).then(({ items, perPage, headers }) => ({
          body: bodyOf(items, perPage),
          headers,
        }));
      }
      return andThen(listOf(deps, path), ([repositoryId, list]) => {
        const encode = () => encodeBody(schemas.listSchema, bodyOf(filtered(list.quarantines, filters), null));
        return { encoded: deps.lists.answer(repositoryId, list, JSON.stringify(filters), encode) };
      });
    },
  });
}

const bodyOf = (quarantines: readonly Quarantine[], perPage: number | null) => ({
  size: quarantines.length,
  per_page: perPage,
  quarantined_tests: quarantines.map(schemas.shown),
});

function mountCreate(app: AnyElysia, http: Http, deps: QuarantineDeps): void {
  mount(app, http, 'POST', BASE, {
    operationId: 'createQuarantine',
    tag: TAG,
    summary: 'Mark a test as quarantined',
    description:
      'On one branch, on the branches of a pattern, or on all. A test that was never seen may be quarantined. A test that is quarantined on the same branch already: 409.',
    access: 'quarantine',
    params: schemas.repositoryPath,
    body: schemas.createBody,
    bodyExample: schemas.CREATE_EXAMPLE,
    responses: {
      201: {
        description: 'Quarantined.',
        schema: schemas.createdSchema,
        headers: { location: { description: 'Address of the quarantine.', schema: { type: 'string', format: 'uri' } } },
      },
    },
    handle: async ({ params: path, body, credential, url }) => {
      const wanted = { testName: body.test_name, reason: body.reason, branch: body.branch };
      const id = await createQuarantine(deps, path, wanted, credential);
      const origin = http.publicUrl ?? url.origin;
      const location = `${origin}/v1/ci/${path.owner}/repositories/${path.repository}/quarantines/${id}`;
      return { status: 201, body: { id }, headers: { location } };
    },
  });
}

function mountGet(app: AnyElysia, http: Http, deps: QuarantineDeps): void {
  mount(app, http, 'GET', `${BASE}/:quarantine_id`, {
    operationId: 'getQuarantine',
    tag: TAG,
    summary: 'Get a quarantined test',
    description: 'One quarantine that was not removed.',
    access: 'read',
    params: schemas.quarantinePath,
    responses: { 200: { description: 'The quarantine.', schema: schemas.quarantineSchema } },
    handle: async ({ params: path }) => ({ body: schemas.shown(await getQuarantine(deps, path, path.quarantine_id)) }),
  });
}

/** RFC 7240: the client wants the record back, not an empty answer. */
const wantsRecord = (prefer: string | null): boolean =>
  prefer?.split(',').some((one) => /^\s*return\s*=\s*"?representation"?\s*(;|$)/i.test(one)) ?? false;

function mountRemove(app: AnyElysia, http: Http, deps: QuarantineDeps): void {
  mount(app, http, 'DELETE', `${BASE}/:quarantine_id`, {
    operationId: 'removeQuarantine',
    tag: TAG,
    summary: 'Remove a quarantine',
    description: 'Answers 204, or 200 with the removed quarantine to the header `Prefer: return=representation`.',
    access: 'quarantine',
    params: schemas.quarantinePath,
    responses: {
      200: { description: 'Removed; the quarantine as it was.', schema: schemas.quarantineSchema },
      204: { description: 'Removed.' },
    },
    handle: async ({ params: path, credential, request }) => {
      const removed = await removeQuarantine(deps, path, path.quarantine_id, credential);
      if (!wantsRecord(request.headers.get('prefer'))) return { status: 204 };
      return { body: schemas.shown(removed), headers: { 'preference-applied': 'return=representation' } };
    },
  });
}

function mountCheck(app: AnyElysia, http: Http, deps: QuarantineDeps): void {
  mount(app, http, 'POST', `${BASE}/check`, {
    operationId: 'checkQuarantines',
    tag: TAG,
    summary: 'Tell quarantined tests from others (older clients)',
    description: 'Newer clients list the quarantines of their branch instead. Changes nothing.',
    access: 'read',
    params: schemas.repositoryPath,
    body: schemas.checkBody,
    bodyExample: schemas.CHECK_EXAMPLE,
    responses: { 200: { description: 'The names, told apart.', schema: schemas.checkedSchema } },
    handle: async ({ params: path, body: { tests_names: names, branch } }) => {
      const [, list] = await listOf(deps, path);
      const applying = list.quarantines.filter((quarantine) =>
        branch === null ? quarantine.branch === null : appliesTo(quarantine, branch),
      );
      const quarantined = new Set(applying.map(({ testName }) => testName));
      return {
        body: {
          quarantined_tests_names: names.filter((name) => quarantined.has(name)),
          non_quarantined_tests_names: names.filter((name) => !quarantined.has(name)),
        },
      };
    },
  });
}
