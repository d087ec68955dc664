/** The parts of a CTRF report that are read, and no more: reporters differ in the rest. */
import { z } from 'zod';
import { FAILURES_MAX } from '../../domain/limits.ts';
import { filesSchema } from '../attachments.ts';
import { firstOf } from '../bounded-list.ts';

const text = z.string().nullish().catch(null);
const number = z.number().nullish().catch(null);

/** The schema leaves these values to reporters. Lists and the like are passed over; so is `__proto__`, which names no axis. */
const scalar = z.union([z.string(), z.number(), z.boolean()]);
const scalars = z.record(z.string(), z.unknown()).transform(
  (all) =>
    new Map(
      Object.entries(all).flatMap(([name, value]) => {
        const told = scalar.safeParse(value).data;
        return told === undefined ? [] : [[name, String(told)] as const];
      }),
    ),
);
const extra = z
  .record(z.string(), z.unknown())
  .transform((all) => ({ told: scalars.parse(all), axes: scalars.safeParse(all.axes).data ?? NONE }))
  .nullish()
  .catch(null);
export type Extra = z.infer<typeof extra>;
const NONE: ReadonlyMap<string, string> = new Map();

const attemptSchema = z.object({ status: text, message: text, trace: text, attachments: filesSchema });
export type Attempt = z.infer<typeof attemptSchema>;

export const testSchema = z.object({
  name: z.string(),
  /** `passed`, `failed`, `skipped`, `pending` or `other`. */
  status: z.string(),
  /** The word of the runner. */
  rawStatus: text,
  /** Milliseconds. */
  duration: number,
  /** Milliseconds since the epoch. */
  start: number,
  stop: number,
  /** A list; until version 1 of the format a text such as `cart.test.js > Cart`. */
  suite: z
    .union([z.string().transform((names) => names.split(' > ')), z.array(z.string())])
    .nullish()
    .catch(null),
  message: text,
  trace: text,
  attachments: filesSchema,
  filePath: text,
  browser: text,
  retries: number,
  /** The attempts before the last; some reporters add that, too. */
  retryAttempts: firstOf(attemptSchema, FAILURES_MAX + 1)
    .nullish()
    .catch(null),
  flaky: z.boolean().nullish().catch(null),
  device: text,
  extra,
});
export type CtrfTest = z.infer<typeof testSchema>;

export const toolSchema = z.object({ name: z.string(), version: text });

export const environmentSchema = z.object({ osPlatform: text, testEnvironment: text, extra });
export type Environment = z.infer<typeof environmentSchema>;

export const summarySchema = z.object({ tests: number, failed: number, start: number });
export type Summary = z.infer<typeof summarySchema>;
