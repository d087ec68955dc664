/** What is read of a Playwright report, and no more: versions differ in the rest. */
import { z } from 'zod';

/** Checks the length first: an error for each of a million wrong items would take seconds. */
const shortArray = <T>(item: z.ZodType<T>, lengthMax: number) =>
  z.array(z.unknown()).max(lengthMax).pipe(z.array(item));

const ERRORS_MAX = 100;
const ATTEMPTS_MAX = 100;

const errorSchema = z.object({
  message: z.string().optional(),
  stack: z.string().optional(),
  /** What was thrown, where that is not an Error. */
  value: z.string().optional(),
});
export type ReportedError = z.infer<typeof errorSchema>;

/** One attempt of a test. */
const resultSchema = z.object({
  /** `passed`, `failed`, `timedOut`, `skipped` or `interrupted`. */
  status: z.string().optional(),
  /** Milliseconds; -1 for a test that did not start. */
  duration: z.number().default(0),
  startTime: z.string().optional(),
  error: errorSchema.optional(),
  /** Of several soft assertions each. Their messages hold the snippet and the location, unlike that of `error`. */
  errors: shortArray(errorSchema, ERRORS_MAX).default([]),
});
export type Attempt = z.infer<typeof resultSchema>;

/** A test in one project. */
export const testSchema = z.object({
  projectName: z.string().default(''),
  /** What a result must be for the test to count as passed: `failed` for `test.fail()`. */
  expectedStatus: z.string().default('passed'),
  status: z.enum(['expected', 'unexpected', 'flaky', 'skipped']),
  results: shortArray(resultSchema, ATTEMPTS_MAX),
});
export type ProjectTest = z.infer<typeof testSchema>;

/** A test in the code; one entry for all the projects that ran it. */
export const specSchema = z.object({
  title: z.string(),
  /** From the tests' root folder. */
  file: z.string().optional(),
  /** Each a {@link testSchema}. */
  tests: z.array(z.unknown()),
});
export type Spec = z.infer<typeof specSchema>;

export const globalErrorSchema = errorSchema;

export const shardSchema = z.object({ current: z.int(), total: z.int() }).nullable();
