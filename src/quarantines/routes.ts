/** The quarantine operations, and the check that older clients use. */
import type { AnyElysia } from 'elysia';
import { coversAxes } from '../domain/axis-scope.ts';
import { DEFAULT_HOST } from '../domain/identity.ts';

import { CHECK_BODY_BYTES_MAX } from '../domain/limits.ts';
import { QUARANTINE_RESTORE_MINUTES } from '../domain/quarantine-rules.ts';

import { branchTest, isNarrowed } from '../domain/quarantine-scope.ts';
import { doerOf } from '../http/auth.ts';
import { type Http, mount } from '../http/operation.ts';
import { LINK, noWindow, publicUrlOf, readPage } from '../http/pages.ts';
import type { QueryOf } from '../http/parameters.ts';
import { conflict, type HttpProblem, notFound } from '../http/problems.ts';
import { type EncodedReply, encodeBody } from '../http/reply.ts';
import type { Quarantine } from '../postgres/quarantine-records.ts';
import type { QuarantineStore } from '../postgres/quarantines.ts';
import type { RepositoryStore } from '../postgres/repositories.ts';
import { beyondKey, filtered, pagedQuarantines, type QuarantineFilters } from './filters.ts';
import type { QuarantineList, QuarantineLists } from './lists.ts';
import { noRoom, requireFuture } from './refusals.ts';
import * as schemas from './schemas.ts';

interface QuarantineDeps {
  repositories: RepositoryStore;
  quarantines: QuarantineStore;
  lists: QuarantineLists;
}

const TAG = 'CI quarantine';
const BASE = '/v1/ci/:owner/repositories/:repository/quarantines';

export function mountQuarantines(app: AnyElysia, http: Http, deps: QuarantineDeps): void {
  mountList(app, http, deps);
  mountCreate(app, http, deps);
  mountGet(app, http, deps);
  mountUpdate(app, http, deps);
  mountRemove(app, http, deps);
  mountRestore(app, http, deps);
  mountCheck(app, http, deps);
}

type RepositoryPath = { owner: string; repository: string };

const NO_LIST: QuarantineList = {
  repositoryId: '',
  revision: 0,
  quarantines: [],
  byId: new Map(),
  clockOffset: 0,
  nextEndAt: Number.POSITIVE_INFINITY,
};

/** The list of a repository; an empty one for a repository that was never written to. */
async function listOf({ repositories, lists }: QuarantineDeps, path: RepositoryPath): Promise<QuarantineList> {
  const repository = await repositories.find(path.owner, path.repository);
  return repository ? lists.get(repository.id) : NO_LIST;
}

const unknownQuarantine = (): HttpProblem =>
  notFound('There is no such quarantine in this repository, or it was removed. List the quarantines to see their ids.');

type ListQuery = QueryOf<typeof schemas.listQuery>;

const filtersOf = (asked: ListQuery): QuarantineFilters => ({
  branch: asked.branch,
  pipelineName: asked.pipeline_name,
  jobName: asked.job_name,
  axes: asked.axis ?? {},
  readsNarrowings: asked.narrowed === 'include',
  testId: asked.test_id,
  source: asked.source,
});

/** Without a page size or a cursor the whole list is wanted. */
const isPaged = ({ per_page, cursor }: ListQuery): boolean => per_page !== undefined || (cursor ?? '') !== '';

function mountList(app: AnyElysia, http: Http, deps: QuarantineDeps): void {
  const wholeList = (list: QuarantineList, filters: QuarantineFilters): EncodedReply => {
    const encode = () => encodeBody(schemas.listSchema, bodyOf(filtered(list.quarantines, filters), null));
    return { encoded: deps.lists.encoded(list, JSON.stringify(filters), encode) };
  };

  mount(app, http, 'GET', BASE, {
    operationId: 'listQuarantines',
    tag: TAG,
    summary: 'List quarantined tests',
    description:
      'In order of creation. With `per_page` in pages; without it the whole list in one response with `per_page: null`, which is kept for older clients. A quarantine that is narrowed to a pipeline, a CI job, axes or failure groups is shown only to those that know: who names its pipeline, CI job and axes, or sends `narrowed=include`.',
    access: 'read',
    isRateLimited: false,
    params: schemas.repositoryPath,
    query: schemas.listQuery,
    responses: { 200: { description: 'The quarantines.', schema: schemas.listSchema, headers: LINK } },
    handle: async ({ params: path, query, url }) => {
      const filters = filtersOf(query);
      if (!isPaged(query)) return wholeList(await listOf(deps, path), filters);
      const asked = {
        path,
        query,
        filters: { filters },
        window: noWindow,
        url: publicUrlOf(http.publicUrl, url),
      };
      const page = await readPage(pagedQuarantines, asked, async (request) => {
        const { quarantines } = await listOf(deps, path);
        return beyondKey(filtered(quarantines, filters), request);
      });
      return { body: bodyOf(page.items, page.perPage), headers: page.headers };
    },
    recall: ({ params: path, query }) => {
      if (isPaged(query)) return undefined;
      const repository = deps.repositories.recall(path.owner, path.repository);
      const list = repository && deps.lists.recall(repository.id);
      return list && wholeList(list, filtersOf(query));
    },
  });
}

const bodyOf = (quarantines: readonly Quarantine[], perPage: number | null) => ({
  size: quarantines.length,
  per_page: perPage,
  quarantined_tests: quarantines.map(schemas.quarantineJson),
});

function mountCreate(app: AnyElysia, http: Http, { repositories, quarantines }: QuarantineDeps): void {
  mount(app, http, 'POST', BASE, {
    operationId: 'createQuarantine',
    tag: TAG,
    summary: 'Mark a test as quarantined',
    description:
      'On one branch, on the branches that match a pattern, or on all; possibly only in a pipeline, in a CI job, on some axes, or for some of its failure groups; possibly for a time. A test that was never seen may be quarantined. A branch may be written with `refs/heads/`, as uploads may. 422 if it would be too much beside the others of the repository (limits of requests). 409 if the test is already quarantined for the same branch, pipeline, CI job, axes and failure groups.',
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
    handle: async ({ params: path, body, credential, url, requestId }) => {
      const { test_name: testName, reason, branch, ...named } = body;
      const terms = schemas.changesIn(named);
      await requireFuture(quarantines, terms.expiresAt);
      const by = doerOf(credential, requestId);
      const recorded = { host: DEFAULT_HOST, owner: path.owner, name: path.repository };
      const repository = await repositories.record(recorded, by.audit);
      const wanted = { ...terms, testName, reason, branch };
      const created = await quarantines.create(repository.id, wanted, by).catch(noRoom);
      if (!created) throw conflict(`Test '${testName}' is already quarantined`);
      const origin = http.publicUrl ?? url.origin;
      const location = `${origin}/v1/ci/${path.owner}/repositories/${path.repository}/quarantines/${created.id}`;
      return { status: 201, body: { id: created.id }, headers: { location } };
    },
  });
}

function mountGet(app: AnyElysia, http: Http, deps: QuarantineDeps): void {
  mount(app, http, 'GET', `${BASE}/:quarantine_id`, {
    operationId: 'getQuarantine',
    tag: TAG,
    summary: 'Get a quarantined test',
    description: 'One quarantine that has not been removed.',
    access: 'read',
    params: schemas.quarantinePath,
    responses: { 200: { description: 'The quarantine.', schema: schemas.quarantineSchema } },
    handle: async ({ params: path }) => {
      const list = await listOf(deps, path);
      const quarantine = list.byId.get(path.quarantine_id);
      if (!quarantine) throw unknownQuarantine();
      return { body: schemas.quarantineJson(quarantine) };
    },
  });
}

const SCOPE_IS_TAKEN =
  'Another quarantine of this test is for the same branch, pipeline, CI job, axes and failure groups.';

function mountUpdate(app: AnyElysia, http: Http, { repositories, quarantines }: QuarantineDeps): void {
  mount(app, http, 'PATCH', `${BASE}/:quarantine_id`, {
    operationId: 'updateQuarantine',
    tag: TAG,
    summary: 'Change a quarantine',
    description:
      'Until when it lasts, whose it is, why, for which branches, and what it is narrowed to. What the body leaves out stays as it is; null removes it. The test stays. 409 if another quarantine of the test is for the same branch, pipeline, CI job, axes and failure groups.',
    access: 'quarantine',
    params: schemas.quarantinePath,
    body: schemas.updateBody,
    bodyExample: schemas.UPDATE_EXAMPLE,
    responses: { 200: { description: 'The quarantine as it is now.', schema: schemas.quarantineSchema } },
    handle: async ({ params: path, body, credential, requestId }) => {
      const changes = schemas.changesIn(body);
      await requireFuture(quarantines, changes.expiresAt);
      const repository = await repositories.find(path.owner, path.repository);
      const updated =
        repository &&
        (await quarantines
          .update(repository.id, path.quarantine_id, changes, doerOf(credential, requestId))
          .catch(noRoom));
      if (!updated) throw unknownQuarantine();
      if (updated === 'taken') throw conflict(SCOPE_IS_TAKEN);
      if (updated === 'of_cause')
        throw conflict(
          'The quarantine is for the failures of a cause, which it follows. To choose its failure groups yourself, release it, and quarantine the test for them.',
        );
      return { body: schemas.quarantineJson(updated) };
    },
  });
}

/** RFC 7240: the client wants the record back, not an empty answer. */
const wantsRecord = (prefer: string | null): boolean =>
  prefer?.split(',').some((one) => /^\s*return\s*=\s*"?representation"?\s*(;|$)/i.test(one)) ?? false;

function mountRemove(app: AnyElysia, http: Http, { repositories, quarantines }: QuarantineDeps): void {
  mount(app, http, 'DELETE', `${BASE}/:quarantine_id`, {
    operationId: 'removeQuarantine',
    tag: TAG,
    summary: 'Remove a quarantine',
    description:
      'Answers 204, or 200 with the removed quarantine if the request has the header `Prefer: return=representation`.',
    access: 'quarantine',
    params: schemas.quarantinePath,
    responses: {
      200: { description: 'Removed; the quarantine as it was.', schema: schemas.quarantineSchema },
      204: { description: 'Removed.' },
    },
    handle: async ({ params: path, credential, request, requestId }) => {
      const repository = await repositories.find(path.owner, path.repository);
      const by = doerOf(credential, requestId);
      const removed = repository && (await quarantines.remove(repository.id, path.quarantine_id, by));
      if (!removed) throw unknownQuarantine();
      if (!wantsRecord(request.headers.get('prefer'))) return { status: 204 };
      return {
        body: schemas.quarantineJson(removed),
        headers: { 'preference-applied': 'return=representation' },
      };
    },
  });
}

function mountRestore(app: AnyElysia, http: Http, { repositories, quarantines }: QuarantineDeps): void {
  mount(app, http, 'POST', `${BASE}/:quarantine_id/restore`, {
    operationId: 'restoreQuarantine',
    tag: TAG,
    summary: 'Undo the removal of a quarantine',
    description: `For ${QUARANTINE_RESTORE_MINUTES} minutes after it was removed: it is in force again as it was, with the same id, and its effect counts on from when it was made. 404 for one that was not removed, was removed earlier, or whose end has come. 409 if another quarantine of the test is for the same branch, pipeline, CI job, axes and failure groups by now.`,
    access: 'quarantine',
    params: schemas.quarantinePath,
    responses: { 200: { description: 'The quarantine, in force again.', schema: schemas.quarantineSchema } },
    handle: async ({ params: path, credential, requestId }) => {
      const repository = await repositories.find(path.owner, path.repository);
      const by = doerOf(credential, requestId);
      const restored = repository && (await quarantines.restore(repository.id, path.quarantine_id, by).catch(noRoom));
      if (!restored)
        throw notFound(
          `No such quarantine was removed in the last ${QUARANTINE_RESTORE_MINUTES} minutes, or its end has come. Quarantine the test again.`,
        );
      if (restored === 'taken') throw conflict(SCOPE_IS_TAKEN);
      return { body: schemas.quarantineJson(restored) };
    },
  });
}

function mountCheck(app: AnyElysia, http: Http, deps: QuarantineDeps): void {
  mount(app, http, 'POST', `${BASE}/check`, {
    operationId: 'checkQuarantines',
    tag: TAG,
    summary: 'Check which tests are quarantined (older clients)',
    description: 'Newer clients list the quarantines of their branch instead. Changes nothing.',
    access: 'read',
    isRateLimited: false,
    params: schemas.repositoryPath,
    body: schemas.checkBody,
    bodyBytesMax: CHECK_BODY_BYTES_MAX,
    bodyExample: schemas.CHECK_EXAMPLE,
    responses: {
      200: { description: 'The names, split by whether they are quarantined.', schema: schemas.checkedSchema },
    },
    handle: async ({ params: path, body: { tests_names: names, branch, axes } }) => {
      const list = await listOf(deps, path);
      const applies = branch === null ? (scope: Quarantine) => scope.branch === null : branchTest(branch);
      // These clients excuse every failure of a name in their leg.
      const isOfLeg = (one: Quarantine): boolean =>
        !isNarrowed({ ...one, axes: null }) && (one.axes === null || coversAxes(one.axes, axes ?? {}));
      const applying = list.quarantines.filter((quarantine) => isOfLeg(quarantine) && applies(quarantine));
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
