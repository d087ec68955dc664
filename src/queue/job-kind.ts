/**
 * A job kind is a queue with its payload schema, retries, concurrency and ids. Each kind is defined beside its
 * schema.
 */
import { z } from 'zod';

/**
 * A store that is down is waited for, not given up on: with the backoff below this is about a day of attempts. Only a bad
 * payload ends earlier, as a dead letter.
 */
const ATTEMPTS_MAX = 3_000;
const BACKOFF_FIRST_MS = 250;
const BACKOFF_MS_MAX = 30_000;

export interface JobKind<S extends z.ZodType = z.ZodType, N extends string = string> {
  /** Also the name of the queue: each kind has one. */
  readonly name: N;
  /** The version of the payload, which its field `v` repeats. */
  readonly version: number;
  readonly schema: S;
  /** The schema that producers in other languages see, where it says more than the one that the consumer checks by. */
  documentedSchema?(): z.ZodType;
  /** For those producers: what a job holds, and what JSON Schema cannot say about it. */
  readonly description: string;
  /** How often a job is tried. */
  readonly attempts: number;
  /** How many jobs one worker holds at a time. */
  readonly concurrency: number;
  /** How many while they are small together (workers/jobs-in-hand.ts); {@link concurrency} unless given. */
  readonly concurrencySmall?: number;
  /** Only the service itself makes such jobs: their schema is not published. */
  readonly isInternal: boolean;
  /** Jobs are worked on one after another, over all workers, in the order in which they were queued. */
  readonly isOrdered: boolean;
  /** Names the job: while it is queued, the same id again is the same job. Without a colon, and not all digits. */
  id(payload: z.input<S>): string;
  /** How long a job waits before its first attempt; not at all without this. */
  delayMs?(payload: z.input<S>): number;
  /** The upload that a payload is part of, even of a payload that the schema refuses. */
  uploadId?(payload: unknown): string | null;
}

type Optional = 'attempts' | 'isOrdered' | 'isInternal';

export const defineJob = <S extends z.ZodType, const N extends string>(
  kind: Omit<JobKind<S, N>, Optional> & Partial<Pick<JobKind, Optional>>,
): JobKind<S, N> => ({ attempts: ATTEMPTS_MAX, isOrdered: false, isInternal: false, ...kind });

/** Doubles from a quarter of a second up to 30 s. `attempts` counts from 1. */
export const backoffMs = (attempts: number): number =>
  Math.min(BACKOFF_FIRST_MS * 2 ** Math.min(attempts - 1, 20), BACKOFF_MS_MAX);

/** The schema of what a producer fills in. */
export function toJsonSchema(schema: z.ZodType): object {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: 'input', target: 'draft-2020-12' });
  return rest;
}
