/** Requests and answers of all uploads, for the checks and for the OpenAPI document. */
import { z } from 'zod';
import { UPLOAD_STATUSES } from '../domain/status.ts';
import { owner, repository } from '../http/path.ts';
import type { ResponseDescription } from '../http/reply.ts';

export const INGEST_TAG = 'Ingestion';
export const UPLOAD_ID_EXAMPLE = '01980f3e-5c1e-7b1c-8f5d-1f2e3d4c5b6a';

export const repositoryPath = z.object({ owner, repository });
const rejectionOut = z.object({
  reason: z.string().meta({ example: 'the test name is longer than 10000 characters' }),
  count: z.int().meta({ example: 1 }),
  examples: z.array(z.string()).meta({ description: 'A few of the test names, shortened', example: [] }),
});
const rejections = z.array(rejectionOut).meta({ description: 'Rows that were refused, by reason', example: [] });
const warnings = z
  .array(z.string())
  .meta({ description: 'Sentences about the upload that are not refusals', example: [] });
const uploadId = z.guid().meta({ example: UPLOAD_ID_EXAMPLE });

export const takenSchema = z.object({
  id: uploadId,
  status: z.literal('queued').meta({ example: 'queued' }),
  executions: z.int().meta({ description: 'Executions that were queued', example: 1 }),
  rejected: z.int().meta({ example: 0 }),
  rejections,
  warnings,
  is_cut_short: z
    .boolean()
    .meta({ description: 'Whether a report broke off, so that what followed is lost', example: false }),
  url: z.url().meta({
    description: 'Address of the receipt',
    example: `https://ci.example.com/v1/ci/acme/repositories/shop/uploads/${UPLOAD_ID_EXAMPLE}`,
  }),
});

const count = (description: string, example: number) =>
  z
    .int()
    .nullable()
    .meta({ description: `${description}; null while part of the upload is queued`, example });

const origin = <T extends z.ZodType>(type: T, description: string, example: string | number) =>
  type.nullable().meta({ description: `${description}; null: not known, or its parts differ`, example });

export const receiptSchema = z.object({
  id: uploadId,
  status: z.enum(UPLOAD_STATUSES).meta({
    description: '`refused`: as a whole, before any worker saw it. Those that are alike are one, with a count',
    example: 'stored',
  }),
  received_at: z.iso.datetime().meta({ example: '2026-11-21T09:30:01.000Z' }),
  stored_at: z.iso.datetime().nullable().meta({ example: '2026-11-21T09:30:01.200Z' }),
  accepted: count('Executions that were new', 1),
  duplicate: count('Executions that were already known', 0),
  rejected: z.int().meta({ description: 'Rows that were refused', example: 0 }),
  conflicting: count('Executions, new or known, of which another result is stored under the same names', 0),
  unnamed_leg: z.int().nullable().meta({
    description:
      'The leg of its results, if they contradict an earlier report of the same names: 2 for the second report, and so on; otherwise null',
    example: null,
  }),
  name_legs_with: z.string().nullable().meta({
    description: 'If results conflict: a line to paste that names legs; otherwise null',
    example: null,
  }),
  on_default_branch: count('Accepted executions on the default branch; insights show only these', 1),
  rejections,
  warnings,
  failure: z.string().nullable().meta({ description: 'Why it failed, or was refused', example: null }),
  refusals: z.int().meta({ description: 'How often uploads like it were refused; 0 unless it was', example: 0 }),
  sender: origin(z.string(), 'The name of the key that sent it, or a person as `@login`', 'ci of acme'),
  format: origin(z.string(), 'The format of its reports, or `otlp`', 'junit'),
  pipeline_name: origin(z.string(), 'The pipeline', 'CI'),
  job_name: origin(z.string(), 'The CI job', 'unit'),
  run_id: origin(z.string(), 'The run', '1001'),
  run_attempt: origin(z.int(), 'The attempt of the run', 1),
  commit_sha: origin(z.string(), 'The commit', '1111111111111111111111111111111111111111'),
  branch: origin(z.string(), 'The branch', 'main'),
  pull_request: origin(z.int(), 'The pull request', 7),
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

export const NO_ROOM: ResponseDescription = {
  description:
    'More uploads arrive than can be read and queued within a few seconds, or the queue does not respond. `Retry-After` says when to send it again; an upload that arrives twice counts once.',
  mediaType: 'application/problem+json',
  example: {
    type: 'about:blank',
    title: 'Service unavailable',
    status: 503,
    detail: 'More uploads arrive than can be read right now. Send this one again in 4 seconds.',
  },
};
