/** What the gateway takes and answers, for the checks and for the OpenAPI document. */
import { z } from 'zod';
import { NAME_LENGTH_MAX, UINT32_MAX } from '../domain/limits.ts';
import { UPLOAD_STATUSES } from '../domain/status.ts';
import type { RawBodyDescription, ResponseDescription } from '../http/operation.ts';
import { integerParameter, momentParameter, textParameter } from '../http/parameters.ts';

export const UPLOAD_ID_EXAMPLE = '01980f3e-5c1e-7b1c-8f5d-1f2e3d4c5b6a';
const REPORT_LENGTH_MAX = 4_096;

export const junitQuery = {
  pipeline_name: textParameter(1, NAME_LENGTH_MAX, {
    description: 'Name of the pipeline (workflow); `unknown` when absent.',
    example: 'CI',
  }),
  job_name: textParameter(1, NAME_LENGTH_MAX, {
    description: 'Name of the job within the pipeline; `unknown` when absent.',
    example: 'unit',
  }),
  run_id: textParameter(1, NAME_LENGTH_MAX, {
    description:
      "The CI provider's id of this run of the pipeline. Absent: the report's own hash, so that only the same bytes count as sent again.",
    example: '1001',
  }),
  run_attempt: integerParameter(1, UINT32_MAX, { description: 'Which attempt of the run; 1 when absent.', example: 1 }),
  commit: textParameter(1, NAME_LENGTH_MAX, {
    description: 'The commit that was tested.',
    example: '1111111111111111111111111111111111111111',
  }),
  branch: textParameter(1, NAME_LENGTH_MAX, {
    description:
      'The branch that was tested, with or without `refs/heads/`. Without it nothing is on the default branch.',
    example: 'main',
  }),
  pull_request: integerParameter(1, UINT32_MAX, {
    description: 'The pull request that was tested. Such runs are never on the default branch.',
  }),
  default_branch: textParameter(1, NAME_LENGTH_MAX, {
    description: "The repository's default branch, as long as nobody set it.",
    example: 'main',
  }),
  started_at: momentParameter({
    description:
      "When the tests began: the report's times are shifted there. For clocks that are wrong and reports without times.",
  }),
  report: textParameter(1, REPORT_LENGTH_MAX, {
    description:
      'Tells the reports of a job apart, such as its path or shard; by default the name of the file in the form, else a hash of the report.',
    example: 'shard-1/junit.xml',
  }),
};

const REPORT_EXAMPLE =
  '<testsuites><testsuite name="cart" timestamp="2026-11-21T09:30:00Z"><testcase classname="Cart" name="adds an item" time="0.012"/></testsuite></testsuites>';

export const JUNIT_BODY: RawBodyDescription = {
  description: 'A JUnit XML report, or a form with a report in each file. With `Content-Encoding: gzip` or without.',
  content: {
    'application/xml': { schema: { type: 'string' }, example: REPORT_EXAMPLE },
    'multipart/form-data': {
      schema: { type: 'object', additionalProperties: { type: 'string', format: 'binary' } },
      example: { 'cart.xml': REPORT_EXAMPLE },
    },
  },
};

const attribute = (key: string, stringValue: string) => ({ key, value: { stringValue } });

export const OTLP_BODY: RawBodyDescription = {
  description: 'An OTLP ExportTraceServiceRequest. With `Content-Encoding: gzip` or without.',
  content: {
    'application/x-protobuf': { schema: { type: 'string', format: 'binary' } },
    'application/json': {
      schema: { type: 'object', properties: { resourceSpans: { type: 'array', items: { type: 'object' } } } },
      example: {
        resourceSpans: [
          {
            resource: {
              attributes: [
                attribute('cicd.pipeline.name', 'CI'),
                attribute('cicd.pipeline.task.name', 'unit'),
                attribute('cicd.pipeline.run.id', '1001'),
                attribute('vcs.ref.head.name', 'main'),
                attribute('vcs.ref.head.revision', '1111111111111111111111111111111111111111'),
              ],
            },
            scopeSpans: [
              {
                spans: [
                  {
                    traceId: '5b8efff798038103d269b633813fc60c',
                    spanId: 'eee19b7ec3c1b174',
                    name: 'Cart > adds an item',
                    startTimeUnixNano: '1795253400000000000',
                    endTimeUnixNano: '1795253400012000000',
                    attributes: [attribute('test.scope', 'case'), attribute('test.case.result.status', 'passed')],
                  },
                ],
              },
            ],
          },
        ],
      },
    },
  },
};

const rejectionOut = z.object({
  reason: z.string().meta({ example: 'the test name is longer than 10000 characters' }),
  count: z.int().meta({ example: 1 }),
  examples: z.array(z.string()).meta({ description: 'A few of the names concerned, shortened', example: [] }),
});
const rejections = z.array(rejectionOut).meta({ description: 'Rows that were refused, by reason', example: [] });
const warnings = z.array(z.string()).meta({ description: 'What else there is to know, in sentences', example: [] });
const uploadId = z.guid().meta({ example: UPLOAD_ID_EXAMPLE });

export const takenSchema = z.object({
  id: uploadId,
  status: z.literal('queued').meta({ example: 'queued' }),
  executions: z.int().meta({ description: 'Executions that were queued', example: 1 }),
  rejected: z.int().meta({ example: 0 }),
  rejections,
  warnings,
  url: z.url().meta({
    description: 'Address of the receipt',
    example: `https://ci.example.com/v1/ci/acme/repositories/shop/uploads/${UPLOAD_ID_EXAMPLE}`,
  }),
});

const count = (description: string, example: number) =>
  z
    .int()
    .nullable()
    .meta({ description: `${description}; null while any of the upload is queued`, example });

export const receiptSchema = z.object({
  id: uploadId,
  status: z.enum(UPLOAD_STATUSES).meta({ example: 'stored' }),
  received_at: z.iso.datetime().meta({ example: '2026-11-21T09:30:01.000Z' }),
  stored_at: z.iso.datetime().nullable().meta({ example: '2026-11-21T09:30:01.200Z' }),
  accepted: count('Executions that were new', 1),
  duplicate: count('Executions that were known already', 0),
  rejected: z.int().meta({ description: 'Rows that were refused', example: 0 }),
  on_default_branch: count('Of the accepted ones those on the default branch, which insights show', 1),
  rejections,
  warnings,
  failure: z.string().nullable().meta({ description: 'Why it failed', example: null }),
});

export const TOO_LARGE: ResponseDescription = {
  description: 'The body is larger than 25 MiB as sent or 200 MiB unpacked, or holds more than 100,000 executions.',
  mediaType: 'application/problem+json',
  example: {
    type: 'about:blank',
    title: 'Payload too large',
    status: 413,
    detail: 'The body is larger than 25 MiB. Send it with Content-Encoding: gzip, or in several requests.',
  },
};
