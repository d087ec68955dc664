/** The parts of Allure's files that are read, and no more: adapters differ in the rest. */
import { z } from 'zod';
import { filesSchema, type ReportedFile } from '../attachments.ts';
import { firstOf } from '../bounded-list.ts';

const text = z.string().nullish().catch(null);
const number = z.number().nullish().catch(null);

const LABELS_MAX = 1_000;
const PARAMETERS_MAX = 100;
const FIXTURES_MAX = 1_000;
const STEPS_MAX = 1_000;
const STEP_LEVELS_MAX = 5;
const CHILDREN_MAX = 100_000;

const labelSchema = z.object({ name: text, value: text });
export type Label = z.infer<typeof labelSchema>;

const parameterSchema = z.object({
  name: text,
  value: z.union([z.string(), z.number(), z.boolean()]).nullish().catch(null),
  /** Whether it differs from run to run. */
  excluded: z.boolean().nullish().catch(null),
  /** `hidden`, or `masked` for secrets. */
  mode: text,
});
export type Parameter = z.infer<typeof parameterSchema>;

const detailsSchema = z.object({ message: text, trace: text }).nullish().catch(null);

export interface Step {
  attachments?: ReportedFile[] | null | undefined;
  steps?: Step[] | null | undefined;
}

/** Only attachments are read of steps, and steps nest: each level has its own schema, so that none is read without end. */
function stepsWithin(levels: number): z.ZodType<Step> {
  const own = { attachments: filesSchema };
  if (levels === 0) return z.object(own);
  return z.object({
    ...own,
    steps: firstOf(stepsWithin(levels - 1), STEPS_MAX)
      .nullish()
      .catch(null),
  });
}
const stepSchema = stepsWithin(STEP_LEVELS_MAX);

export const resultSchema = z.object({
  uuid: text,
  /** The same for all attempts of a test. */
  historyId: text,
  fullName: text,
  name: text,
  status: text,
  statusDetails: detailsSchema,
  /** Milliseconds since the epoch. */
  start: number,
  stop: number,
  labels: firstOf(labelSchema, LABELS_MAX).nullish().catch(null),
  parameters: firstOf(parameterSchema, PARAMETERS_MAX).nullish().catch(null),
  /** Folders, file and classes around the test. */
  titlePath: firstOf(z.string(), PARAMETERS_MAX).nullish().catch(null),
  attachments: filesSchema,
  steps: firstOf(stepSchema, STEPS_MAX).nullish().catch(null),
});
export type Result = z.infer<typeof resultSchema>;

const fixtureSchema = z.object({ name: text, status: text, statusDetails: detailsSchema });

/** Set-ups and teardowns of some results. */
export const containerSchema = z.object({
  children: firstOf(z.string(), CHILDREN_MAX).nullish().catch(null),
  befores: firstOf(fixtureSchema, FIXTURES_MAX).nullish().catch(null),
  afters: firstOf(fixtureSchema, FIXTURES_MAX).nullish().catch(null),
});

export const unreadableSchema = z.object({ unreadable: z.string() });

const has = (value: object, ...names: readonly string[]): boolean => names.every((name) => Object.hasOwn(value, name));

export type Kind = 'result' | 'container' | 'unreadable' | null;

/** The kind of document that a file holds; null for another. */
export function kindOf(value: unknown): Kind {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  if (has(value, 'unreadable')) return 'unreadable';
  if (has(value, 'children') || has(value, 'befores') || has(value, 'afters')) return 'container';
  return has(value, 'status') && (has(value, 'name') || has(value, 'fullName')) ? 'result' : null;
}
