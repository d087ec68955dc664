/** Renames of tests: what the service proposes, and what people decide. */
import type { AnyElysia } from 'elysia';
import { z } from 'zod';
import { NAME_LENGTH_MAX } from '../domain/limits.ts';
import { formatMoment } from '../domain/moment.ts';
import { RENAME_STATES } from '../domain/rename-decisions.ts';
import { RENAME_REASONS } from '../domain/renames.ts';
import { doerOf } from '../http/auth.ts';
import { type Http, mount } from '../http/operation.ts';
import { LINK, noWindow, type PagedList, pageReply, publicUrlOf, readPage } from '../http/pages.ts';
import { cursorParameter, enumsParameter, perPageParameter, uuidParameter } from '../http/parameters.ts';
import { uuid } from '../http/path.ts';
import { conflict, notFound } from '../http/problems.ts';
import { text } from '../http/text.ts';
import { decideRename, type RenameRefusal, renameTest } from '../postgres/decide-renames.ts';
import { listRenames, type Rename, type RenameKey } from '../postgres/renames.ts';
import * as common from './common.ts';

const ADDRESS = '/v1/ci/:owner/repositories/:repository/renames';
const ID_EXAMPLE = '01980f3e-5c1e-7b1c-8f5d-1f2e3d4c5b6b';

const stateOut = z.enum(RENAME_STATES).meta({
  description: '`rejected`: it was proposed wrongly; `undone`: it was accepted, and taken back',
  example: 'proposed',
});
const rename = z
  .object({
    id: z.guid().meta({ example: ID_EXAMPLE }),
    state: stateOut,
    test_id: common.testIdOut.meta({ description: 'The test that continues: it keeps its id' }),
    test_name: z.string().meta({ description: 'Its name before', example: 'a.CartTest.sums' }),
    new_name: z.string().meta({ example: 'b.CartTest.sums' }),
    new_test_id: z.guid().meta({
      description: 'The id of the new name alone. Once accepted, it leads to the test',
      example: 'b5a8ad0e-70d3-5d5b-a4f5-4c9a0b1a7a21',
    }),
    reasons: z.array(z.enum(RENAME_REASONS)).meta({
      description: 'Why it was proposed (docs/renames.md); empty if a person named it',
      example: ['same_commit', 'same_name', 'moved_together'],
    }),
    confidence: z.number().min(0).max(1).nullable().meta({ description: 'Null if a person named it', example: 0.98 }),
    first_run_at: common.dateTimeOut.meta({ description: 'When the new name first ran' }),
    proposed_at: common.dateTimeOut,
    decided_at: common.dateTimeOut.nullable(),
    decided_by: z.string().nullable().meta({ description: 'The login, or the name of the key', example: 'ann' }),
    is_applied: z.boolean().meta({
      description: 'False: what is stored is still being moved, while new results of the repository wait in the queue',
      example: true,
    }),
    has_failed: z.boolean().meta({
      description: 'True: it could not be applied. It is tried again, or was undone for this (docs/renames.md)',
      example: false,
    }),
  })
  .meta({ id: 'Rename' });
const list = z.object({ ...common.pageFields, renames: z.array(rename) }).meta({ id: 'RenameList' });
export type RenameList = z.output<typeof list>;

const nameIn = (example: string) =>
  text(1, NAME_LENGTH_MAX).meta({ example, minLength: 1, maxLength: NAME_LENGTH_MAX });
const newRename = z.strictObject({
  test_name: nameIn('a.CartTest.sums').meta({ description: 'A name that the test has or had' }),
  new_name: nameIn('b.CartTest.sums').meta({ description: 'It need not have run yet' }),
});
const decision = z.strictObject({
  state: z.enum(['accepted', 'rejected', 'undone']).meta({
    description:
      '`accepted`, also after it was rejected or undone; `rejected` of what is proposed; `undone` of what was accepted',
    example: 'accepted',
  }),
});

const renameJson = (row: Rename): z.input<typeof rename> => ({
  ...{ id: row.id, state: row.state, test_id: row.fromId, test_name: row.fromName },
  ...{ new_name: row.toName, new_test_id: row.toId, reasons: row.reasons },
  confidence: row.confidence === null ? null : Math.round(row.confidence * 100) / 100,
  first_run_at: formatMoment(row.firstMs),
  proposed_at: row.proposedAt.toISOString(),
  decided_at: row.decidedAt?.toISOString() ?? null,
  decided_by: row.decidedBy,
  is_applied: row.isApplied,
  has_failed: row.failure !== null,
});

const newestFirst: PagedList<Rename, RenameKey> = {
  name: 'renames',
  keySchema: z.tuple([z.number(), z.guid()]),
  keyOf: ({ proposedAt, id }) => [proposedAt.getTime(), id],
};

const REFUSALS: Readonly<Record<RenameRefusal, string>> = {
  taken: 'The new name belongs to a test already, or the two are one test. Undo the rename that says so first.',
  settled: 'This cannot follow from its state: reject what is proposed, undo what was accepted. Read the rename again.',
};

const unknownRename = () => notFound('There is no such rename in this repository. List the renames to see their ids.');

export function mountRenames(app: AnyElysia, http: Http, { db, clock, repositories }: common.InsightsDeps): void {
  mount(app, http, 'GET', ADDRESS, {
    operationId: 'listRenames',
    tag: common.TAG,
    summary: 'List renames of tests',
    description:
      'Which test another one was before, newest first: what the service proposes, and what people accepted, rejected or took back.',
    access: 'read',
    params: common.shortPath,
    query: {
      state: enumsParameter(RENAME_STATES, { description: 'Only these states', example: ['proposed'] }),
      test_id: uuidParameter({
        description: 'Only those of a test, by its id or by that of its new name',
        example: '8c0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c11',
      }),
      cursor: cursorParameter(),
      per_page: perPageParameter(),
    },
    responses: { 200: { description: 'The renames.', schema: list, headers: LINK } },
    handle: async ({ params: path, query, url }) => {
      const repository = await repositories.find(path.owner, path.repository);
      const filters = { state: query.state, testId: query.test_id };
      const asked = { path, query, filters, window: noWindow, url: publicUrlOf(http.publicUrl, url) };
      const page = await readPage(newestFirst, asked, async ({ key, direction, perPage }) =>
        repository
          ? listRenames(db, repository.id, {
              ...{ states: query.state, testId: query.test_id, key, direction },
              rows: perPage + 1,
            })
          : [],
      );
      return pageReply(page, 'renames', renameJson);
    },
  });

  mount(app, http, 'POST', ADDRESS, {
    operationId: 'renameTest',
    tag: common.TAG,
    summary: 'Say that a test has another name',
    description:
      'Accepts at once, whether or not the service proposed it. History, health, quarantines and owners of the test go on under the new name, within seconds; the test keeps its id. 404 if no test of the name ran on the default branch; 409 if the new name belongs to another rename.',
    access: 'quarantine',
    params: common.shortPath,
    body: newRename,
    bodyExample: { test_name: 'a.CartTest.sums', new_name: 'b.CartTest.sums' },
    responses: { 201: { description: 'Accepted.', schema: rename } },
    handle: async ({ params: path, body, credential, requestId }) => {
      const repository = await repositories.find(path.owner, path.repository);
      const decided = { by: doerOf(credential, requestId), now: clock.now() };
      const names = { fromName: body.test_name, toName: body.new_name };
      const made = repository ? await renameTest(db, repository, names, decided) : 'unknown';
      if (made === 'unknown')
        throw notFound(
          'There is no test of this name. Search for it: insights know the tests that ran on the default branch.',
        );
      if (typeof made === 'string') throw conflict(REFUSALS[made]);
      return { status: 201, body: renameJson(made) };
    },
  });

  mount(app, http, 'PATCH', `${ADDRESS}/:rename_id`, {
    operationId: 'decideRename',
    tag: common.TAG,
    summary: 'Accept, reject or undo a rename',
    description:
      'What is accepted or undone moves what is stored within seconds. To decide the same again changes nothing. 409 if it cannot follow from its state, or if the new name belongs to another rename.',
    access: 'quarantine',
    params: common.shortPath.extend({ rename_id: uuid('Id of the rename, as returned by the list.', ID_EXAMPLE) }),
    body: decision,
    bodyExample: { state: 'accepted' },
    responses: { 200: { description: 'The rename as it is now.', schema: rename } },
    handle: async ({ params: path, body, credential, requestId }) => {
      const repository = await repositories.find(path.owner, path.repository);
      const decided = { by: doerOf(credential, requestId), now: clock.now() };
      const made = repository && (await decideRename(db, repository, path.rename_id, body.state, decided));
      if (!made) throw unknownRename();
      if (typeof made === 'string') throw conflict(REFUSALS[made]);
      return { body: renameJson(made) };
    },
  });
}
