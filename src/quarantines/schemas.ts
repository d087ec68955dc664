/** The input and output of the quarantine operations. */
import { z } from 'zod';
import { NAME_LENGTH_MAX, REASON_LENGTH_MAX, TEST_NAME_LENGTH_MAX } from '../domain/limits.ts';
import { formatMoment } from '../domain/moment.ts';
import { QUARANTINE_SOURCES } from '../domain/quarantine-rules.ts';
import { cursorParameter, enumParameter, perPageParameter, textParameter, uuidParameter } from '../http/parameters.ts';
import { owner, repository, uuid } from '../http/path.ts';
import { text } from '../http/text.ts';
import type { Quarantine } from '../postgres/quarantines.ts';

const ID_EXAMPLE = '01980f3e-5c1e-7b1c-8f5d-1f2e3d4c5b6a';
const TEST_ID_EXAMPLE = '8c0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c11';
const NAME_EXAMPLE = 'Cart > totals > sums [a, b] with 10% tax';

export const repositoryPath = z.object({ owner, repository });
export const quarantinePath = repositoryPath.extend({
  quarantine_id: uuid('Id of the quarantine, as returned by the list.', ID_EXAMPLE),
});

export const listQuery = {
  branch: textParameter(1, NAME_LENGTH_MAX, {
    description:
      'Only quarantines that apply to this branch: for every branch, for this one, or with a matching pattern.',
    example: 'main',
  }),
  test_id: uuidParameter({ description: 'Only quarantines of this test.', example: TEST_ID_EXAMPLE }),
  source: enumParameter(QUARANTINE_SOURCES, {
    description: 'Only quarantines made by people or clients (`manual`), or by auto-quarantine (`auto`).',
  }),
  cursor: cursorParameter(),
  per_page: {
    ...perPageParameter(null),
    description: 'Items per page. Absent: the whole list in one response, which clients should not rely on forever.',
  },
};

const testName = text(1, TEST_NAME_LENGTH_MAX).meta({
  description: 'Fully qualified name of the test, as its runner reports it',
  example: NAME_EXAMPLE,
});
const branch = text(1, NAME_LENGTH_MAX)
  .nullish()
  .transform((value) => value ?? null);

export const createBody = z.object({
  test_name: testName,
  reason: text(0, REASON_LENGTH_MAX).meta({ example: 'Fails when the clock changes, see #1234' }),
  branch: branch.meta({
    description:
      'Branch, or pattern for branches: `*` and `?` do not match `/`, `**` does. Null or absent: every branch',
    example: 'main',
  }),
});

export const CREATE_EXAMPLE = {
  test_name: NAME_EXAMPLE,
  reason: 'Fails when the clock changes, see #1234',
  branch: 'main',
};

export const createdSchema = z.object({ id: z.guid().meta({ example: ID_EXAMPLE }) });

export const checkBody = z.object({
  tests_names: z
    .array(testName)
    .meta({ description: 'Names of the tests to look for', example: [NAME_EXAMPLE, 'Cart > is empty'] }),
  branch: branch.meta({
    description: 'The branch under test. Null or absent: only quarantines for every branch',
    example: 'main',
  }),
});

export const CHECK_EXAMPLE = { tests_names: [NAME_EXAMPLE, 'Cart > is empty'], branch: 'main' };

export const checkedSchema = z.object({
  quarantined_tests_names: z.array(z.string()).meta({ example: [NAME_EXAMPLE] }),
  non_quarantined_tests_names: z.array(z.string()).meta({ example: ['Cart > is empty'] }),
});

export const quarantineSchema = z
  .object({
    id: z.guid().meta({ example: ID_EXAMPLE }),
    test_id: z.guid().meta({ description: 'The id of the test in the insights', example: TEST_ID_EXAMPLE }),
    test_name: z.string().meta({ example: NAME_EXAMPLE }),
    reason: z.string().meta({ example: 'Fails when the clock changes, see #1234' }),
    branch: z.string().nullable().meta({ description: 'Branch or pattern; null: every branch', example: 'main' }),
    created_at: z.iso.datetime().meta({ example: '2026-11-21T09:30:00.000Z' }),
    source: z.enum(QUARANTINE_SOURCES).meta({ example: 'manual' }),
    is_recovered: z.boolean().meta({
      description: 'Whether recent runs are healthy, so that the quarantine could be removed',
      example: false,
    }),
  })
  .meta({ id: 'QuarantinedTest' });

export const listSchema = z.object({
  size: z.int().meta({ description: 'Items in this page', example: 1 }),
  per_page: z
    .int()
    .nullable()
    .meta({ description: 'Items per page; null if the whole list was requested', example: 10 }),
  quarantined_tests: z.array(quarantineSchema),
});

/** A quarantine as the API returns it. */
export const quarantineJson = (quarantine: Quarantine): z.input<typeof quarantineSchema> => ({
  id: quarantine.id,
  test_id: quarantine.testId,
  test_name: quarantine.testName,
  reason: quarantine.reason,
  branch: quarantine.branch,
  created_at: formatMoment(quarantine.createdAt.getTime()),
  source: quarantine.source,
  is_recovered: quarantine.isRecovered,
});
