/**
 * The `upload-bundles` job, version 1: the chunks of several small uploads that arrived at the same moment. A job costs
 * the queue as much as storing some hundred executions, so uploads of 40 tests share one.
 *
 * Only the gateway makes bundles. Each chunk is a payload of `test-runs`, and is handled as if it had come alone.
 */
import { z } from 'zod';
import { compressText } from './encoding.ts';
import { defineJob } from './job-kind.ts';
import type { PackedJob, PlainJob } from './packed-job.ts';

export const uploadBundleSchema = z.object({
  v: z.literal(1),
  /** The id of the job: see {@link bundleJobIds}. */
  bundle: z.string(),
  uploads: z
    .array(
      z.object({
        /** The id that the job would have alone. */
        id: z.string(),
        /** A payload of `test-runs`, checked on its own: a bad one spoils no other. */
        job: z.unknown(),
        /** `traceparent` of its request. */
        trace: z.string().optional(),
      }),
    )
    .min(1),
});

export const uploadBundles = defineJob({
  name: 'upload-bundles',
  version: 1,
  schema: uploadBundleSchema,
  isInternal: true,
  description: 'The chunks of several small uploads that arrived at the same moment, as payloads of "test-runs".',
  // A bundle of 16 uploads of 40 executions is a sixteenth of a block.
  concurrency: 8,
  concurrencySmall: 64,
  id: ({ bundle }) => bundle,
});

/** The last two digits of an id tell so many apart. */
export const BUNDLE_UPLOADS_MAX = 256;
const DIGITS = 2;

/** The uploads of a bundle have ids that differ in the last digits. So the receipt of one finds its job by its id. */
export const uploadIdOf = (bundle: string, index: number): string => bundle + index.toString(16).padStart(DIGITS, '0');

/** The bundle in which an upload is, if it is in one. */
export const bundleOf = (uploadId: string): string => uploadId.slice(0, -DIGITS);

/** Uploads that are parsed late follow in further jobs of the bundle. */
const JOBS_MAX = 4;

/** The ids of the jobs that a bundle may have, in their order. */
export const bundleJobIds = (bundle: string): string[] =>
  Array.from({ length: JOBS_MAX }, (_, i) => (i === 0 ? bundle : `${bundle}-${i}`));

/** A chunk on its way into a bundle. */
export interface BundledChunk extends PlainJob {
  trace: string | undefined;
}

/** Packs a job of a bundle, whose chunks are JSON already. */
export function packBundle(jobId: string, chunks: readonly BundledChunk[]): PackedJob {
  const uploads = chunks.map(({ id, json, trace }) => {
    // JSON leaves out what is undefined.
    const rest = JSON.stringify({ id, trace });
    return `${rest.slice(0, -1)},"job":${json}}`;
  });
  return {
    id: jobId,
    data: compressText(`{"v":1,"bundle":${JSON.stringify(jobId)},"uploads":[${uploads.join(',')}]}`),
  };
}
