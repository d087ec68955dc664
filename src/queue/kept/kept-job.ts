/**
 * A kept upload: a queue job as a worker took it, as one line of JSON. The job has all that it takes to store it again: the
 * repository, the run and what its sender may say about it, when it was received and by whom. No credential is in it.
 */
import { z } from 'zod';
import { jsonOf } from '../../domain/json.ts';
import type { RepositoryName } from '../../domain/repository-path.ts';
import { compress, compressedSchema, unpack } from '../encoding.ts';
import { testRuns } from '../test-runs.ts';
import { uploadBundles } from '../upload-bundles.ts';

const lineSchema = z.object({
  queue: z.string(),
  id: z.string(),
  /** When its producer queued it, and when it was kept; milliseconds since the epoch. */
  queued_at: z.number(),
  kept_at: z.number(),
  /** The repositories that it is about, as `owner/name` in lower case. */
  repositories: z.array(z.string()),
  data: z.unknown(),
});
export type KeptJob = z.infer<typeof lineSchema>;

/** A job as its queue gave it, and what was in it. */
export interface TakenJob {
  queue: string;
  id: string;
  queuedAt: number;
  data: unknown;
  payload: unknown;
}

const namedSchema = z.object({ repository: z.object({ owner: z.string(), name: z.string() }) });
const bundleSchema = z.looseObject({ uploads: z.array(z.looseObject({ id: z.string(), job: z.unknown() })) });

const pathOf = ({ owner, name }: RepositoryName): string => `${owner}/${name}`.toLowerCase();

/** The path of the repository that a payload is about; undefined if it names none, so that no worker stores it. */
function repositoryOf(payload: unknown): string | undefined {
  const named = namedSchema.safeParse(payload);
  return named.success ? pathOf(named.data.repository) : undefined;
}

/** The line for a job; undefined if it is about no repository. A payload that came plain is packed. */
export function lineOf({ queue, id, queuedAt, data, payload }: TakenJob, keptAt: number): string | undefined {
  const payloads = partsOf({ queue, id, payload }).map((part) => part.payload);
  const repositories = [...new Set(payloads.flatMap((part) => repositoryOf(part) ?? []))];
  if (repositories.length === 0) return undefined;
  const packed = compressedSchema.safeParse(data).success ? data : compress(payload);
  const kept: KeptJob = { queue, id, queued_at: queuedAt, kept_at: keptAt, repositories, data: packed };
  return JSON.stringify(kept);
}

/** Undefined for a line that a power loss cut off. */
export function readLine(line: string): KeptJob | undefined {
  return lineSchema.safeParse(jsonOf(line)).data;
}

export interface Part {
  queue: string;
  id: string;
  payload: unknown;
}

/** Splits a job: a bundle into its uploads, anything else stays as it is. */
function partsOf({ queue, id, payload }: Part): Part[] {
  if (queue !== uploadBundles.name) return [{ queue, id, payload }];
  const bundle = bundleSchema.safeParse(payload);
  if (!bundle.success) return [];
  return bundle.data.uploads.map((upload) => ({ queue: testRuns.name, id: upload.id, payload: upload.job }));
}

/** The parts of a kept job. Throws if it cannot be unpacked. */
export const partsOfKept = ({ queue, id, data }: KeptJob): Part[] =>
  partsOf({ queue, id, payload: unpack(data).payload });

/** The line without what was queued for a repository up to a moment; undefined if nothing is left. */
export function withoutRepository(line: string, path: RepositoryName, until: number): string | undefined {
  const kept = readLine(line);
  const gone = pathOf(path);
  if (!kept || kept.queued_at > until || !kept.repositories.includes(gone)) return line;
  const bundle = bundleSchema.safeParse(kept.queue === uploadBundles.name ? unpack(kept.data).payload : undefined);
  const uploads = bundle.success ? bundle.data.uploads.filter(({ job }) => repositoryOf(job) !== gone) : [];
  if (uploads.length === 0) return undefined;
  const left: KeptJob = {
    ...kept,
    repositories: kept.repositories.filter((repository) => repository !== gone),
    data: compress({ ...bundle.data, uploads }),
  };
  return JSON.stringify(left);
}
