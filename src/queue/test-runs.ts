/**
 * The `test-runs` job, version 1: one chunk of executions that share a run (pipeline, CI job, run, attempt).
 *
 * It is columnar: the arrays under `executions` have one entry per execution, and those under `failures` one per failed
 * attempt. ClickHouse takes this shape fastest (74,000 to 126,000 executions a second, against 32,000 as row objects), and
 * it compresses best. `docs/test-runs.v1.schema.json` is generated from this schema, for producers in other languages.
 */
import { z } from 'zod';
import { executionColumns, failureColumns, runSchema } from '../domain/columns.ts';
import { DEFAULT_HOST } from '../domain/identity.ts';
import { NAME_LENGTH_MAX } from '../domain/limits.ts';
import { wholeNumbers } from '../domain/plain-array.ts';
import { REJECTION_EXAMPLES_MAX, type Rejection } from '../domain/rejections.ts';
import { ownerSchema, repositoryNameSchema } from '../domain/repository-path.ts';
import { cleanText, malformedReason, shownName } from '../domain/text.ts';
import { defineJob } from './job-kind.ts';

/** With more executions in a job, a retry repeats too much; with fewer, the queue's cost per job shows. */
export const CHUNK_EXECUTIONS_MAX = 5_000;

/** Identifiers are made of keys and sources, so these must be text that has bytes. */
const isStorable = (text: string): boolean => malformedReason(text) === null;
const UNSTORABLE = 'must not hold NUL or half of a surrogate pair';

const executionsSchema = z.object({
  /** Index into `sources`. */
  source: wholeNumbers(0),
  ...executionColumns.shape,
});

const failuresSchema = z.object({
  /** Index into the arrays of `executions`. */
  execution: wholeNumbers(0),
  ...failureColumns.shape,
});

/** Sentences for the receipt: PostgreSQL keeps no NUL, and no half of a surrogate pair. */
const sentence = z.string().overwrite(cleanText);

/** Shown only, so what is longer is cut. */
const label = z
  .string()
  .overwrite((text) => shownName(text, NAME_LENGTH_MAX))
  .nullable()
  .default(null);

/** Rows that were refused before the queue, grouped by reason, for the receipt. */
export const rejectionSchema = z.object({
  reason: sentence,
  count: z.int().min(1),
  /** A few of the names, shortened. */
  examples: z.array(sentence).max(REJECTION_EXAMPLES_MAX).default([]),
}) satisfies z.ZodType<Rejection>;

const sameLength = (columns: Record<string, readonly unknown[] | undefined>): boolean =>
  new Set(Object.values(columns).flatMap((column) => column?.length ?? [])).size <= 1;

export const testRunsSchema = z
  .object({
    v: z.literal(1),
    upload_id: z.uuid().describe('Groups the chunks of one upload; the id of its receipt'),
    chunk: z.object({ index: z.int().min(0), count: z.int().min(1) }).default({ index: 0, count: 1 }),
    received_at: z.iso.datetime({ offset: true }),
    arrived_at: z.iso
      .datetime({ offset: true })
      .nullable()
      .default(null)
      .describe('Only of imported results: when they would have arrived. Executions without a time count from then'),
    format: label.describe('What its reports are, such as junit or otlp; for the receipt'),
    sender: label.describe('Who sends it; for the receipt'),
    repository: z.object({
      host: z.string().min(1).max(NAME_LENGTH_MAX).default(DEFAULT_HOST),
      owner: ownerSchema,
      name: repositoryNameSchema,
    }),
    run: runSchema,
    sources: z
      .array(z.string().min(1).refine(isStorable, UNSTORABLE))
      .describe('The units of resending: trace ids, report keys'),
    executions: executionsSchema,
    failures: failuresSchema,
    rejections: z.array(rejectionSchema).default([]),
    warnings: z.array(sentence).default([]).describe('Sentences for the receipt, besides its counts'),
  })
  .refine((job) => sameLength(job.executions), { message: 'all arrays under executions must have one length' })
  .refine((job) => job.executions.key.every(isStorable), { message: `executions.key ${UNSTORABLE}` })
  .refine((job) => sameLength(job.failures), { message: 'all arrays under failures must have one length' })
  .refine((job) => job.executions.name.length <= CHUNK_EXECUTIONS_MAX, {
    message: `a job holds at most ${CHUNK_EXECUTIONS_MAX} executions`,
  })
  .refine((job) => job.executions.source.every((i) => i < job.sources.length), {
    message: 'executions.source must index sources',
  })
  .refine((job) => job.failures.execution.every((i) => i < job.executions.name.length), {
    message: 'failures.execution must index executions',
  });

export type TestRunsJob = z.infer<typeof testRunsSchema>;

/** Names the job of one chunk of an upload. */
export const chunkJobId = (uploadId: string, chunkIndex: number): string => `${uploadId}-${chunkIndex}`;

const uploadIdSchema = z.object({ upload_id: z.uuid() });

export const testRuns = defineJob({
  name: 'test-runs',
  version: 1,
  schema: testRunsSchema,
  description:
    'One chunk of at most 5,000 executions that share a run. All arrays under "executions" have one length, and all under "failures".',
  // Few enough large jobs to fit in memory, enough small ones to fill a block of 10,000 executions.
  concurrency: 8,
  concurrencySmall: 256,
  id: ({ upload_id, chunk }) => chunkJobId(upload_id, chunk?.index ?? 0),
  uploadId: (payload) => uploadIdSchema.safeParse(payload).data?.upload_id ?? null,
});
