/** Forgetting tests over HTTP: what `ci-insights tests forget` does. */
import type { AnyElysia } from 'elysia';
import { z } from 'zod';
import type { ClickHouse } from '../clickhouse/client.ts';
import { countStoredOfTests, storedTests } from '../clickhouse/test-rows.ts';
import type { Clock } from '../clock.ts';
import { addCounts } from '../domain/deletion.ts';
import {
  FORGOTTEN_AT_ONCE_MAX,
  FORGOTTEN_NAMED_MAX,
  FORGOTTEN_SHOWN_MAX,
  nothingToForget,
} from '../domain/forgetting.ts';
import { auditActorOf } from '../http/auth.ts';
import { type Http, mount } from '../http/operation.ts';
import { enumParameter } from '../http/parameters.ts';
import { owner, repository } from '../http/path.ts';
import { conflict, notFound } from '../http/problems.ts';
import { type Database, onPostgres } from '../postgres/client.ts';
import { beginForgettingTests, type Forgetting, forgettingsOf } from '../postgres/forgotten-tests.ts';
import type { Repository, RepositoryStore } from '../postgres/repositories.ts';
import { countTestRows } from '../postgres/test-rows.ts';
import { type Forgettable, type NamedTest, selectTests } from '../postgres/tests-to-forget.ts';

const ADDRESS = '/v1/ci/:owner/repositories/:repository';
const TAG = 'Repositories';
const ID = '01980f3e-5c1e-7b1c-8f5d-1f2e3d4c5b6b';

const rowCounts = z.record(z.string(), z.int());
const moment = z.iso.datetime();

const bodySchema = z
  .strictObject({
    test_ids: z
      .array(z.guid())
      .min(1)
      .max(FORGOTTEN_NAMED_MAX)
      .optional()
      .meta({
        description: `Ids of tests; at most ${FORGOTTEN_NAMED_MAX}`,
        example: ['8c0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c11'],
      }),
    not_run_since: z.iso
      .datetime({ offset: true })
      .optional()
      .meta({
        description: `Tests that have not run since then, on any branch; the first ${FORGOTTEN_AT_ONCE_MAX}`,
        example: '2026-06-01T00:00:00Z',
      }),
  })
  .refine(({ test_ids, not_run_since }) => (test_ids === undefined) !== (not_run_since === undefined), {
    error: 'must have either test_ids or not_run_since',
  });
export type TestsToForget = z.input<typeof bodySchema>;

const named = z.object({
  test_id: z.guid().meta({ example: '8c0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c11' }),
  test_name: z.string().meta({ example: 'a.CartTest.sums' }),
});
const shown = (description: string) =>
  z.array(named).meta({
    description: `${description}; at most ${FORGOTTEN_SHOWN_MAX}`,
    example: [{ test_id: '8c0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c11', test_name: 'a.CartTest.sums' }],
  });
const count = z.int().meta({ description: 'How many tests', example: 1 });
const quarantined = z.object({
  count: z.int().meta({ example: 0 }),
  tests: z.array(named).meta({ description: `At most ${FORGOTTEN_SHOWN_MAX}`, example: [] }),
});
const isMore = z.boolean().meta({
  description: `Whether more than ${FORGOTTEN_AT_ONCE_MAX} tests match: ask again for the others`,
  example: false,
});
const kept = quarantined.meta({
  description: 'Tests that stay, because they are quarantined. End the quarantine first',
});

const previewSchema = z
  .object({
    count,
    tests: shown('Tests that would be forgotten'),
    quarantined: kept,
    is_more: isMore,
    rows: rowCounts.meta({
      description: 'Rows that would be removed, by table; tables without any are left out',
      example: { executions: 310, failures: 4, tests: 1, identities: 2 },
    }),
  })
  .meta({ id: 'TestForgettingPreview' });
export type ForgettingPreview = z.output<typeof previewSchema>;

const receiptFields = {
  id: z.guid().meta({ example: ID }),
  count,
  requested_at: moment.meta({ example: '2026-11-21T10:00:00.000Z' }),
  requested_by: z.string().meta({ description: 'As in the trail', example: 'ann@example.com' }),
  finished_at: moment.nullable().meta({
    description: 'Null while a worker removes what is stored',
    example: '2026-11-21T10:00:02.000Z',
  }),
  removed: rowCounts.meta({
    description: 'Rows removed so far, by table',
    example: { executions: 310, failures: 4, tests: 1, identities: 2 },
  }),
};
const receiptSchema = z.object(receiptFields).meta({ id: 'TestForgetting' });
export type TestForgetting = z.output<typeof receiptSchema>;
const begunSchema = z
  .object({ ...receiptFields, quarantined: kept, is_more: isMore })
  .meta({ id: 'BegunTestForgetting' });
export type BegunForgetting = z.output<typeof begunSchema>;
const listSchema = z.object({ forgettings: z.array(receiptSchema) }).meta({ id: 'TestForgettingList' });
export type TestForgettingList = z.output<typeof listSchema>;

const documentOf = ({ id, testIds, requestedAt, requestedBy, finishedAt, removed }: Forgetting): TestForgetting => ({
  id,
  count: testIds.length,
  requested_at: requestedAt.toISOString(),
  requested_by: requestedBy,
  finished_at: finishedAt?.toISOString() ?? null,
  removed,
});

const namedOf = (tests: readonly NamedTest[]) =>
  tests.slice(0, FORGOTTEN_SHOWN_MAX).map(({ testId, name }) => ({ test_id: testId, test_name: name }));
const keptOf = ({ quarantined: tests }: Forgettable) => ({ count: tests.length, tests: namedOf(tests) });

interface TestsForgettingDeps {
  db: Database;
  clickhouse: ClickHouse;
  repositories: RepositoryStore;
  clock: Clock;
}

export function mountTestsForgetting(
  app: AnyElysia,
  http: Http,
  { db, clickhouse, repositories, clock }: TestsForgettingDeps,
): void {
  const params = z.object({ owner, repository });

  const find = async (path: z.output<typeof params>): Promise<Repository> => {
    const found = await repositories.find(path.owner, path.repository);
    if (!found) throw notFound(`There is no repository ${path.owner}/${path.repository}. Nothing was forgotten.`);
    return found;
  };

  /** The tests that the body means. */
  const select = ({ id }: Repository, { test_ids: testIds, not_run_since: notRunSince }: TestsToForget) =>
    selectTests(db, id, { testIds, notRunSince }, storedTests(clickhouse, id));

  mount(app, http, 'POST', `${ADDRESS}/tests/forget`, {
    operationId: 'forgetTests',
    tag: TAG,
    summary: 'Forget tests',
    description:
      'For names that will never run again. Removes everything that is stored of the tests, for good: executions, statistics, health, owners, renames, ended quarantines. What is shown of the repository, its runs and other tests follows as if they had never run. Tests with an open quarantine stay, and the answer names them. A worker removes the rows. Uploads keep their receipts, and the same report sent again brings nothing back; a test that runs again begins as a new one. With `dry_run`, nothing changes and the answer says what would go.',
    access: 'administer',
    params,
    query: { dry_run: enumParameter(['true'], { description: 'Only say what would go.' }) },
    body: bodySchema,
    bodyExample: { not_run_since: '2026-06-01T00:00:00Z' },
    responses: {
      200: { description: 'With `dry_run`: what would go.', schema: previewSchema },
      202: { description: 'A worker removes what is stored.', schema: begunSchema },
    },
    handle: async ({ params: path, query, body, credential, requestId }) => {
      const found = await find(path);
      const selected = await select(found, body);
      const { tests, isMore: is_more } = selected;
      const outcome = { quarantined: keptOf(selected), is_more };
      const testIds = tests.map(({ testId }) => testId);
      if (query.dry_run) {
        const stored = await countStoredOfTests(clickhouse, found.id, testIds);
        const rows = addCounts(
          await countTestRows(db, found.id, testIds),
          ...stored.map(({ executions, failures }) => ({ executions, failures })),
        );
        return { status: 200, body: { count: tests.length, tests: namedOf(tests), ...outcome, rows } };
      }
      if (tests.length === 0) {
        const quarantined = selected.quarantined.length;
        throw (quarantined > 0 ? conflict : notFound)(nothingToForget(quarantined));
      }
      const by = auditActorOf(credential, requestId);
      const begun = await onPostgres(() =>
        db.transaction((tx) => beginForgettingTests(tx, found, tests, by, clock.now())),
      );
      return { status: 202, body: { ...documentOf(begun), ...outcome } };
    },
  });

  mount(app, http, 'GET', `${ADDRESS}/forgotten-tests`, {
    operationId: 'listTestForgettings',
    tag: TAG,
    summary: 'List which tests were forgotten',
    description: 'The receipts, newest first; at most 100. They are kept as long as the trail.',
    access: 'administer',
    params,
    responses: { 200: { description: 'The receipts.', schema: listSchema } },
    handle: async ({ params: path }) => {
      const found = await repositories.find(path.owner, path.repository);
      return { body: { forgettings: found ? (await forgettingsOf(db, found.id)).map(documentOf) : [] } };
    },
  });
}
