/** The input and output of the quarantine operations. */
import { validate as validateUuid } from 'uuid';
import { z } from 'zod';
import { AXES_MAX, axesRejection, axesSchema } from '../domain/axes.ts';
import { AXIS_VALUES_MAX, axisScopeRejection, axisScopeSchema, orderedAxisScope } from '../domain/axis-scope.ts';
import { REQUEST_LIMITS } from '../domain/limit-table.ts';
import {
  CHECKED_NAMES_MAX,
  NAME_LENGTH_MAX,
  QUARANTINE_FAILURES_MAX,
  QUARANTINE_OWNER_LENGTH_MAX,
  REASON_LENGTH_MAX,
  TEST_NAME_LENGTH_MAX,
  WEB_ADDRESS_BYTES_MAX,
} from '../domain/limits.ts';
import { formatMoment, parseMoment } from '../domain/moment.ts';
import { QUARANTINE_SOURCES } from '../domain/quarantine-rules.ts';
import { orderedFailureIds } from '../domain/quarantine-scope.ts';
import {
  axesParameter,
  branchParameter,
  cursorParameter,
  enumParameter,
  perPageParameter,
  textParameter,
  uuidParameter,
} from '../http/parameters.ts';
import { owner, repository, uuid } from '../http/path.ts';
import { branchName, text, webAddress } from '../http/text.ts';
import { type Quarantine, type QuarantineTerms, termsOf } from '../postgres/quarantine-records.ts';

const ID_EXAMPLE = '01980f3e-5c1e-7b1c-8f5d-1f2e3d4c5b6a';
const TEST_ID_EXAMPLE = '8c0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c11';
const FAILURE_ID_EXAMPLE = '3f1a8b52-90c4-5d27-8f0e-6b1d2c3e4f50';
const NAME_EXAMPLE = 'Cart > totals > sums [a, b] with 10% tax';

export const repositoryPath = z.object({ owner, repository });
export const quarantinePath = repositoryPath.extend({
  quarantine_id: uuid('Id of the quarantine, as returned by the list.', ID_EXAMPLE),
});

export const listQuery = {
  branch: branchParameter({
    description:
      'Only quarantines that apply to this branch: for every branch, for this one, or with a matching pattern.',
    example: 'main',
  }),
  pipeline_name: textParameter(1, NAME_LENGTH_MAX, {
    description:
      'The pipeline that asks: those narrowed to it are included, those narrowed to another one are left out.',
    example: 'CI',
  }),
  job_name: textParameter(1, NAME_LENGTH_MAX, {
    description: 'The CI job that asks: those narrowed to it are included, those narrowed to another one are left out.',
    example: 'unit',
  }),
  axis: axesParameter({
    description:
      'An axis of the leg that asks, as `name:value`: those narrowed to it are included, those narrowed to another value of it are left out.',
    example: ['os:windows'],
  }),
  narrowed: enumParameter(['exclude', 'include'], {
    description:
      'Whether to include quarantines narrowed to a pipeline, a CI job or an axis that the request does not name, or to failure groups. Ask for them only if you compare `pipeline_name`, `job_name`, `axes` and `failure_ids` of each: otherwise you would excuse more than was asked for.',
    default: 'exclude',
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
const branch = branchName.nullish().transform((value) => value ?? null);

const moment = z
  .string()
  .transform((value, context) => {
    const at = parseMoment(value);
    if (at !== undefined) return new Date(at);
    context.addIssue({
      code: 'custom',
      message: 'must be an ISO 8601 date-time with a time zone, such as 2026-12-24T18:00:00Z',
      params: { type: 'invalid_datetime' },
    });
    return z.NEVER;
  })
  .meta({ format: 'date-time' });

const failureIds = z
  .array(z.string().refine((id) => validateUuid(id), { error: 'must be a UUID', params: { type: 'invalid_uuid' } }))
  .min(1, { error: 'is empty; leave it out, or send null, for every failure' })
  .max(QUARANTINE_FAILURES_MAX, { error: REQUEST_LIMITS.QUARANTINE_FAILURES_MAX.sentence() })
  .transform(orderedFailureIds);

const AXES_EXAMPLE = { os: ['windows'] };
const axes = axisScopeSchema
  .superRefine((scope, context) => {
    const problem = axisScopeRejection(scope);
    if (problem) context.addIssue({ code: 'custom', message: problem });
  })
  .transform(orderedAxisScope);

/** Terms of a quarantine, which may be changed later. */
const terms = {
  pipeline_name: text(1, NAME_LENGTH_MAX)
    .nullish()
    .meta({ description: 'Only in this pipeline. Null: in every one', example: 'CI' }),
  job_name: text(1, NAME_LENGTH_MAX)
    .nullish()
    .meta({ description: 'Only in this CI job. Null: in every one', example: 'unit' }),
  axes: axes.nullish().meta({
    description: `Only in legs with one of these values of each axis: at most ${AXES_MAX} axes with ${AXIS_VALUES_MAX} values each. A leg that does not tell the axis is not covered. Null: in every leg`,
    example: AXES_EXAMPLE,
  }),
  failure_ids: failureIds.nullish().meta({
    description:
      'Only while the test fails in one of these ways: ids of failure groups, as `…/tests/{test_id}/failures` lists them. Null: for every failure',
    example: [FAILURE_ID_EXAMPLE],
    minItems: 1,
    maxItems: QUARANTINE_FAILURES_MAX,
  }),
  expires_at: moment.nullish().meta({
    description: 'When the quarantine ends automatically; in the future. Null: never',
    example: '2026-12-24T18:00:00Z',
  }),
  owner: text(1, QUARANTINE_OWNER_LENGTH_MAX)
    .nullish()
    .meta({ description: 'The person or the team that will repair the test', example: 'team-checkout' }),
  ticket_url: webAddress.nullish().meta({
    description: 'Where the repair is tracked: an address with http or https',
    example: 'https://tickets.acme.example/SHOP-1234',
    maxLength: WEB_ADDRESS_BYTES_MAX,
  }),
};

export const createBody = z.object({
  test_name: testName,
  reason: text(0, REASON_LENGTH_MAX).meta({ example: 'Fails when the clock changes, see #1234' }),
  branch: branch.meta({
    description:
      'Branch, or pattern for branches: `*` and `?` do not match `/`, `**` does. Null or absent: every branch',
    example: 'main',
  }),
  ...terms,
});

/** A misspelt field is refused: a quarantine whose end was not changed would be found out too late. */
export const updateBody = z.strictObject(terms, {
  error: (issue) =>
    issue.code === 'unrecognized_keys'
      ? `has what cannot be changed (${issue.keys?.join(', ')}); it may hold ${Object.keys(terms).join(', ')}`
      : undefined,
});

export const UPDATE_EXAMPLE = { expires_at: '2026-12-24T18:00:00Z', owner: 'team-checkout' };

/** The terms that a body names; what it leaves out is absent. */
export function termsIn(body: z.output<typeof updateBody>): Partial<QuarantineTerms> {
  const named = {
    pipelineName: body.pipeline_name,
    jobName: body.job_name,
    axes: body.axes,
    failureIds: body.failure_ids,
    expiresAt: body.expires_at,
    owner: body.owner,
    ticketUrl: body.ticket_url,
  };
  return Object.fromEntries(Object.entries(named).filter(([, value]) => value !== undefined));
}

export const CREATE_EXAMPLE = {
  test_name: NAME_EXAMPLE,
  reason: 'Fails when the clock changes, see #1234',
  branch: 'main',
};

export const createdSchema = z.object({ id: z.guid().meta({ example: ID_EXAMPLE }) });

export const checkBody = z.object({
  tests_names: z
    .array(testName)
    .max(CHECKED_NAMES_MAX, { error: REQUEST_LIMITS.CHECKED_NAMES_MAX.sentence() })
    .meta({ description: 'Names of the tests to look for', example: [NAME_EXAMPLE, 'Cart > is empty'] }),
  branch: branch.meta({
    description: 'The branch under test. Null or absent: only quarantines for every branch',
    example: 'main',
  }),
  axes: axesSchema
    .superRefine((leg, context) => {
      const problem = axesRejection(leg);
      if (problem) context.addIssue({ code: 'custom', message: problem });
    })
    .nullish()
    .meta({
      description: 'The axes of the leg under test. Null or absent: no quarantine that is narrowed to axes',
      example: { os: 'windows' },
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
    pipeline_name: z
      .string()
      .nullable()
      .meta({ description: 'The only pipeline that it is for; null: every one', example: null }),
    job_name: z
      .string()
      .nullable()
      .meta({ description: 'The only CI job that it is for; null: every one', example: 'unit' }),
    axes: axisScopeSchema
      .nullable()
      .meta({ description: 'The only values of axes that it is for; null: every leg', example: null }),
    failure_ids: z
      .array(z.guid())
      .nullable()
      .meta({
        description: 'The only failure groups that it is for; null: every failure',
        example: [FAILURE_ID_EXAMPLE],
      }),
    cause_id: z.guid().nullable().meta({
      description:
        'The cause whose failures these groups are: they follow it. The id stays when the cause is merged, and leads to what it has become. Null: not of a cause',
      example: null,
    }),
    expires_at: z.iso
      .datetime()
      .nullable()
      .meta({ description: 'When it ends automatically; null: never', example: '2026-12-24T18:00:00.000Z' }),
    owner: z.string().nullable().meta({ description: 'Who will repair the test', example: 'team-checkout' }),
    ticket_url: z
      .string()
      .nullable()
      .meta({ description: 'Where the repair is tracked', example: 'https://tickets.acme.example/SHOP-1234' }),
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

export type QuarantineListAnswer = z.output<typeof listSchema>;

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
  ...termsOf(quarantine),
});
