/** Questions to a parser, and its answers: plain values, so that they can cross to another process. */
import { z } from 'zod';
import { axesSchema } from '../../domain/axes.ts';
import { reportBoundsSchema } from '../../domain/report-bounds.ts';
import { encodeFrame, type Frame } from '../../frames.ts';
import { compressedSchema } from '../../queue/encoding.ts';
import type { PackedJob, PlainJob } from '../../queue/packed-job.ts';
import { rejectionSchema } from '../../queue/test-runs.ts';
import type { ReportQuery } from '../reports/query.ts';

const limitsSchema = z.object({ sentBytesMax: z.int(), unpackedBytesMax: z.int() });

/** Must name every parameter: one that is missing would be lost on the way. */
const querySchema = z.object({
  pipeline_name: z.string().optional(),
  job_name: z.string().optional(),
  axis: axesSchema.optional(),
  place: axesSchema.optional(),
  run_id: z.string().optional(),
  run_attempt: z.int().optional(),
  commit: z.string().optional(),
  branch: z.string().optional(),
  pull_request: z.int().optional(),
  base_ref: z.string().optional(),
  default_branch: z.string().optional(),
  started_at: z.number().optional(),
  arrived_at: z.number().optional(),
  job_url: z.string().optional(),
  report: z.string().optional(),
  attachments_url: z.string().optional(),
  attachments_root: z.string().optional(),
  attachments_from: z.string().optional(),
} satisfies Record<keyof ReportQuery, z.ZodType>);

export const parseTaskSchema = z.object({
  /** The kind of body. */
  input: z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('otlp'), encoding: z.enum(['protobuf', 'json']) }),
    z.object({
      kind: z.literal('report'),
      format: z.string(),
      contentType: z.string().nullable(),
      query: querySchema,
    }),
  ]),
  isGzip: z.boolean(),
  limits: limitsSchema,
  executionsMax: z.int().optional(),
  /** The bounds of the credential; absent: reports may say anything. */
  bounds: reportBoundsSchema.optional(),
  uploadId: z.string(),
  /** Who sends it; null if it is not known. */
  sender: z.string().nullable(),
  repository: z.object({ owner: z.string(), name: z.string() }),
  /** Milliseconds since the epoch. */
  receivedAt: z.number(),
});
export type ParseTask = z.infer<typeof parseTaskSchema>;

const packedJobSchema = z.object({
  id: z.string(),
  data: compressedSchema.extend({ b: z.string() }),
}) satisfies z.ZodType<PackedJob>;

const parsedSchema = z.object({
  outcome: z.literal('parsed'),
  /** Executions in the jobs. */
  executions: z.int(),
  rejections: z.array(rejectionSchema),
  warnings: z.array(z.string()),
  isCutShort: z.boolean(),
  /** Ready for the queue. */
  jobs: z.array(packedJobSchema),
  /** Whether they go into the track of large uploads. */
  isLarge: z.boolean(),
});
const refusedSchema = z.object({
  outcome: z.literal('refused'),
  /** 422, 413 for a body beyond a limit, or 403 for what the credential may not say. */
  why: z.enum(['invalid', 'too large', 'not permitted']),
  sentence: z.string(),
});

/** The only job instead of `jobs`, if it is small enough to share one. */
interface SmallJob {
  small?: PlainJob | undefined;
}
type Answer = (z.infer<typeof parsedSchema> & SmallJob) | z.infer<typeof refusedSchema>;
/** `interrupted`: nothing is known to be wrong with the upload, and the same may be read when it is sent again. */
export type ParseResult = Answer | { outcome: 'interrupted' };

/** The head of the frame in which a result crosses. The JSON of a small job is its body: in the head it would be escaped. */
const answerSchema = z.discriminatedUnion('outcome', [
  parsedSchema.extend({ small: z.object({ id: z.string() }).optional() }),
  refusedSchema,
]);

export function encodeResult(result: ParseResult): Uint8Array[] {
  if (result.outcome !== 'parsed' || !result.small) return encodeFrame(result);
  const { small, ...parsed } = result;
  return encodeFrame({ ...parsed, small: { id: small.id } }, Buffer.from(small.json));
}

export function decodeResult({ head, body }: Frame): ParseResult {
  const answer = answerSchema.parse(JSON.parse(head));
  if (answer.outcome === 'refused') return answer;
  const { small, ...parsed } = answer;
  return small ? { ...parsed, small: { id: small.id, json: new TextDecoder().decode(body) } } : parsed;
}

/** Parses an upload here, or elsewhere. Rejects only when no parser can be had. */
export type Parse = (task: ParseTask, body: Uint8Array) => Promise<ParseResult>;
