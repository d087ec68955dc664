/**
 * The catalogue of jobs: which queue, which payload, how often a job is tried. Producers and workers get their types here.
 */
import type { z } from 'zod';
import { prEventsSchema } from './pr-events.ts';
import { testRunsSchema } from './test-runs.ts';

/**
 * A store that is down is waited for, not given up on: with the backoff below this is about a day of tries. Only a bad
 * payload ends earlier, as a dead letter.
 */
const ATTEMPTS_MAX = 3_000;
const BACKOFF_FIRST_MS = 250;
export const BACKOFF_MS_MAX = 30_000;

export interface JobKind<S extends z.ZodType> {
  /** Also the name of the queue: one kind a queue. */
  readonly name: string;
  readonly schema: S;
  readonly attempts: number;
}

export const testRuns = { name: 'test-runs', schema: testRunsSchema, attempts: ATTEMPTS_MAX } satisfies JobKind<
  typeof testRunsSchema
>;

export const prEvents = { name: 'pr-events', schema: prEventsSchema, attempts: ATTEMPTS_MAX } satisfies JobKind<
  typeof prEventsSchema
>;

/** Doubles from a quarter of a second up to 30 s. `attempts` counts from 1. */
export const backoffMs = (attempts: number): number =>
  Math.min(BACKOFF_FIRST_MS * 2 ** Math.min(attempts - 1, 20), BACKOFF_MS_MAX);
