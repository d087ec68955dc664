/**
 * The same quarantines under the address that newer clients ask (`mergify` and `pytest-mergify` since October 2026): each is the
 * state `quarantined` of a test. What those clients send and read decides the names here; the specification has none of it.
 */
import type { AnyElysia } from 'elysia';
import { z } from 'zod';
import { NAME_LENGTH_MAX, TEST_NAME_LENGTH_MAX } from '../domain/limits.ts';
import { type Http, mount } from '../http/operation.ts';
import { LINK } from '../http/pages.ts';
import { cursorParameter, enumParameter, perPageParameter, textParameter } from '../http/parameters.ts';
import { uuid } from '../http/path.ts';
import { unprocessable } from '../http/problems.ts';
import type { Quarantine } from '../postgres/quarantines.ts';
import { filtered } from './page.ts';
import * as schemas from './schemas.ts';
import {
  createQuarantine,
  getQuarantine,
  pageOfQuarantines,
  type QuarantineDeps,
  removeQuarantine,
} from './service.ts';

const TAG = 'Test states';
const BASE = '/v1/ci/:owner/repositories/:repository/test-states';

const statePath = schemas.repositoryPath.extend({
  test_state_id: uuid('Names the state, as the list gives it.', '01980f3e-5c1e-7b1c-8f5d-1f2e3d4c5b6a'),
});

const query = {
  state: enumParameter(['quarantined'], { description: 'Only tests in this state; there is no other.' }),
  branch_name: { ...schemas.listQuery.branch, description: 'Only states that apply to this branch.' },
  pipeline_name: textParameter(1, NAME_LENGTH_MAX, {
    description: 'Only states that apply to this pipeline: all of them do.',
    example: 'CI',
  }),
  job_name: textParameter(1, NAME_LENGTH_MAX, {
    description: 'Only states that apply to this job: all of them do.',
    example: 'unit',
  }),
  test_name: textParameter(1, TEST_NAME_LENGTH_MAX, {
    description: 'Only states of the test with this name, whole and with case.',
    example: 'Cart > is empty',
  }),
  source: schemas.listQuery.source,
  cursor: cursorParameter(),
  per_page: perPageParameter(),
};

const everywhere = (what: string) => z.null().meta({ description: `Null: in every ${what}`, example: null });

const stateSchema = schemas.quarantineSchema
  .omit({ branch: true })
  .extend({
    state: z.literal('quarantined').meta({ example: 'quarantined' }),
    branch_name: z.string().nullable().meta({ description: 'Branch or pattern; null: every branch', example: 'main' }),
    pipeline_name: everywhere('pipeline'),
    job_name: everywhere('job'),
    issue_url: z.null().meta({ description: 'Always null: the reason is the place for a link', example: null }),
  })
  .meta({ id: 'TestState' });

const listSchema = z.object({
  size: z.int().meta({ description: 'Items in this page', example: 1 }),
  per_page: z.int().meta({ description: 'Items per page', example: 10 }),
  test_states: z.array(stateSchema),
});

const createBody = z.object({
  state: z.literal('quarantined').meta({ example: 'quarantined' }),
  test_name: schemas.createBody.shape.test_name,
  reason: schemas.createBody.shape.reason,
  branch_name: schemas.createBody.shape.branch,
  pipeline_name: z.string().nullish().meta({ description: 'Null or absent: a quarantine is for every pipeline' }),
  job_name: z.string().nullish().meta({ description: 'Null or absent: a quarantine is for every job' }),
  issue_url: z.string().nullish().meta({ description: 'Null or absent: the reason is the place for a link' }),
});

const CREATE_EXAMPLE = {
  state: 'quarantined',
  test_name: schemas.CREATE_EXAMPLE.test_name,
  reason: schemas.CREATE_EXAMPLE.reason,
  branch_name: 'main',
};

/** What a client may ask for and would not get; refused, because a wider quarantine than was asked for hides failures. */
const REFUSED = {
  pipeline_name: 'cannot limit a quarantine: it is for every pipeline of its branches. Leave it out',
  job_name: 'cannot limit a quarantine: it is for every job of its branches. Leave it out',
  issue_url: 'is not kept. Put the link into the reason',
} as const;

function refuseWhatIsNotKept(body: z.output<typeof createBody>): void {
  const errors = (Object.keys(REFUSED) as (keyof typeof REFUSED)[])
    .filter((name) => body[name] !== null && body[name] !== undefined)
    .map((name) => ({ loc: ['body', name], msg: REFUSED[name], type: 'not_supported' }));
  if (errors.length > 0) throw unprocessable(errors);
}

const shown = (quarantine: Quarantine): z.input<typeof stateSchema> => {
  const { branch, ...rest } = schemas.shown(quarantine);
  const nowhere = { pipeline_name: null, job_name: null, issue_url: null };
  return { ...rest, state: 'quarantined', branch_name: branch, ...nowhere };
};

export function mountTestStates(app: AnyElysia, http: Http, deps: QuarantineDeps): void {
  mount(app, http, 'GET', BASE, {
    operationId: 'listTestStates',
    tag: TAG,
    summary: 'List the states of tests',
    description: 'The quarantines in pages, in order of creation, as newer clients ask for them.',
    access: 'read',
    params: schemas.repositoryPath,
    query,
    responses: { 200: { description: 'A page of states.', schema: listSchema, headers: LINK } },
    handle: async ({ params: path, query: asked, url }) => {
      const { branch_name: branch, test_name: testName, source } = asked;
      const of = {
        list: 'test-states',
        filters: { branch, testName, source },
        matching: (all: readonly Quarantine[]) =>
          filtered(all, { branch, source, testId: undefined }).filter(
            (one) => testName === undefined || one.testName === testName,
          ),
      };
      const address = { url, publicUrl: http.publicUrl };
      const { items, perPage, headers } = await pageOfQuarantines(deps, path, asked, of, address);
      return { body: { size: items.length, per_page: perPage, test_states: items.map(shown) }, headers };
    },
  });

  mount(app, http, 'POST', BASE, {
    operationId: 'createTestState',
    tag: TAG,
    summary: 'Put a test into a state',
    description:
      'Quarantines it, as `POST …/quarantines` does. A quarantine of one pipeline or job only is not offered: 422.',
    access: 'quarantine',
    params: schemas.repositoryPath,
    body: createBody,
    bodyExample: CREATE_EXAMPLE,
    responses: { 201: { description: 'Quarantined.', schema: schemas.createdSchema } },
    handle: async ({ params: path, body, credential }) => {
      refuseWhatIsNotKept(body);
      const wanted = { testName: body.test_name, reason: body.reason, branch: body.branch_name };
      return { status: 201, body: { id: await createQuarantine(deps, path, wanted, credential) } };
    },
  });

  mount(app, http, 'GET', `${BASE}/:test_state_id`, {
    operationId: 'getTestState',
    tag: TAG,
    summary: 'Get the state of a test',
    description: 'One quarantine that was not removed.',
    access: 'read',
    params: statePath,
    responses: { 200: { description: 'The state.', schema: stateSchema } },
    handle: async ({ params: path }) => ({ body: shown(await getQuarantine(deps, path, path.test_state_id)) }),
  });

  mount(app, http, 'DELETE', `${BASE}/:test_state_id`, {
    operationId: 'removeTestState',
    tag: TAG,
    summary: 'Take a test out of its state',
    description: 'Removes the quarantine.',
    access: 'quarantine',
    params: statePath,
    responses: { 204: { description: 'Removed.' } },
    handle: async ({ params: path, credential }) => {
      await removeQuarantine(deps, path, path.test_state_id, credential);
      return { status: 204 };
    },
  });
}
