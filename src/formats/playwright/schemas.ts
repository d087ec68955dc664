/** The parts of a Playwright report that are read, and no more: versions differ in the rest. */
import { z } from 'zod';
import { filesSchema } from '../attachments.ts';
import { firstOf } from '../bounded-list.ts';

/** The last attempt decides, so it is always among them. */
const attemptsOf = <T>(item: z.ZodType<T>, lengthMax: number) =>
  z
    .array(z.unknown())
    .transform((items) => (items.length <= lengthMax ? items : [...items.slice(0, lengthMax - 1), items.at(-1)]))
    .pipe(z.array(item));

/** `expect.soft` in a loop makes one for each round. */
const ERRORS_MAX = 100;
const ATTEMPTS_MAX = 100;

const errorSchema = z.object({
  message: z.string().optional(),
  stack: z.string().optional(),
  /** The thrown value if it is not an Error. */
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
  /** All errors, of which soft assertions make several. Unlike `error`, their messages include snippet and location. */
  errors: firstOf(errorSchema, ERRORS_MAX).default([]),
  attachments: filesSchema,
});
export type Attempt = z.infer<typeof resultSchema>;

/** A test in one project. */
export const testSchema = z.object({
  projectName: z.string().default(''),
  /** The status that a result must have for the test to pass: `failed` for `test.fail()`. */
  expectedStatus: z.string().default('passed'),
  status: z.enum(['expected', 'unexpected', 'flaky', 'skipped']),
  results: attemptsOf(resultSchema, ATTEMPTS_MAX),
});
export type ProjectTest = z.infer<typeof testSchema>;

/** A test in the code, for all projects that ran it. */
export const specSchema = z.object({
  title: z.string(),
  /** Relative to the root folder of the tests. */
  file: z.string().optional(),
  /** Each a {@link testSchema}. */
  tests: z.array(z.unknown()),
});
export type Spec = z.infer<typeof specSchema>;

export const globalErrorSchema = errorSchema;

export const shardSchema = z.object({ current: z.int(), total: z.int() }).nullable();
