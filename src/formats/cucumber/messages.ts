/** The messages of Cucumber that are read, and no more of them than is needed: versions differ in the rest. */
import { z } from 'zod';

const timestampSchema = z.object({ seconds: z.coerce.number(), nanos: z.number().default(0) });
export type Timestamp = z.infer<typeof timestampSchema>;

const text = z.string().default('');
/** Items are decoded one by one, and counted: see outlines.ts. */
const items = z.array(z.unknown()).default([]);

const resultSchema = z.object({
  /** Such as `PASSED`, `FAILED`, `PENDING`. */
  status: z.string(),
  message: z.string().optional(),
  exception: z
    .object({ type: z.string().optional(), message: z.string().optional(), stackTrace: z.string().optional() })
    .optional(),
});
export type StepResult = z.infer<typeof resultSchema>;

/** Not needed to read the results, so it may be anything. */
const product = z
  .object({ name: text, version: text })
  .catch({ name: '', version: '' })
  .default({ name: '', version: '' });

/** A message has one of these. */
const SCHEMAS = {
  meta: z.object({
    implementation: z.object({ name: text, version: z.string().optional() }),
    os: product,
    cpu: product,
    runtime: product,
  }),
  gherkinDocument: z.object({ uri: text, feature: z.object({ name: text, children: items }).nullish() }),
  pickle: z.object({ id: z.string(), uri: text, name: text, astNodeIds: items, steps: items }),
  testCase: z.object({ id: z.string(), pickleId: z.string(), testSteps: items }),
  testCaseStarted: z.object({
    id: z.string(),
    testCaseId: z.string(),
    attempt: z.number().default(0),
    timestamp: timestampSchema.optional(),
  }),
  testStepFinished: z.object({ testCaseStartedId: z.string(), testStepId: text, testStepResult: resultSchema }),
  externalAttachment: z.object({ url: text, mediaType: text, testCaseStartedId: z.string().optional() }),
  testCaseFinished: z.object({
    testCaseStartedId: z.string(),
    timestamp: timestampSchema.optional(),
    willBeRetried: z.boolean().default(false),
  }),
  testRunHookFinished: z.object({ result: resultSchema }),
  testRunFinished: z.object({ success: z.boolean().optional(), exception: z.unknown().optional() }),
  parseError: z.object({ source: z.object({ uri: text }).optional(), message: text }),
} as const;

type Kind = keyof typeof SCHEMAS;
export type Messages = { [K in Kind]: z.infer<(typeof SCHEMAS)[K]> };
/** A message by its kind; null in the place of one that is not as Cucumber writes it. */
export type Message = { [K in Kind]: { kind: K; content: Messages[K] | null } }[Kind];

const KIND = /^\s{0,20}\{\s{0,20}"(\w{1,40})"\s{0,20}:/;
const isKind = (word: string): word is Kind => Object.hasOwn(SCHEMAS, word);

/** Whether the line is a message that is read. Attachments within the report, sources and definitions are not. */
export const isWanted = (head: string): boolean => isKind(KIND.exec(head)?.[1] ?? '');

/** Null for what is no message. */
export function messageOf(value: unknown): Message | null {
  if (typeof value !== 'object' || value === null) return null;
  const [[kind, content] = ['', null]] = Object.entries(value);
  // The pair is of one kind, which its type does not say.
  return isKind(kind) ? ({ kind, content: SCHEMAS[kind].safeParse(content).data ?? null } as Message) : null;
}

const OTHER_KINDS: ReadonlySet<string> = new Set(
  'attachment source hook parameterType stepDefinition suggestion testRunStarted testRunHookStarted testStepStarted undefinedParameterType'.split(
    ' ',
  ),
);

/** Whether a value is a message of any kind, read or not. */
export function isMessage(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const [kind = '', ...others] = Object.keys(value);
  return others.length === 0 && (isKind(kind) || OTHER_KINDS.has(kind));
}
