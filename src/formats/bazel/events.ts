/** The build events that are read, after build_event_stream.proto. JSON leaves out what is false, 0 or empty. */
import { z } from 'zod';

/** Numbers of 64 bits are texts. */
const number = z.coerce.number().catch(0);
const count = z.number().catch(1).default(1);
const text = z.string().catch('').default('');
const configuration = z.object({ id: text }).catch({ id: '' }).default({ id: '' });

const resultIdSchema = z.object({ label: z.string(), run: count, shard: count, attempt: count, configuration });
const resultSchema = z.object({
  status: text,
  statusDetails: text,
  cachedLocally: z.boolean().default(false),
  executionInfo: z.object({ cachedRemotely: z.boolean().default(false) }).default({ cachedRemotely: false }),
  testAttemptStart: z.string().optional(),
  testAttemptStartMillisEpoch: number.optional(),
  /** Such as `1.5s`. */
  testAttemptDuration: z.string().optional(),
  testAttemptDurationMillis: number.optional(),
  testActionOutput: z.array(z.unknown()).default([]),
});
export type ResultId = z.infer<typeof resultIdSchema>;
export type Result = z.infer<typeof resultSchema>;

const targetSchema = z.object({ label: text, configuration });
const summarySchema = z.object({ overallStatus: text, shardCount: count });
const configurationSchema = z.object({ mnemonic: text, cpu: text });
const abortedSchema = z.object({ reason: text, description: text });

type BazelEvent =
  | { kind: 'testResult'; id: ResultId; result: Result }
  | { kind: 'testSummary'; id: z.infer<typeof targetSchema>; summary: z.infer<typeof summarySchema> }
  | { kind: 'configuration'; id: string; mnemonic: string; cpu: string }
  | { kind: 'started'; version: string }
  | { kind: 'aborted'; label: string; reason: string; description: string }
  | { kind: 'notBuilt'; label: string }
  | { kind: 'unreadable' }
  | { kind: 'other' };

export type Stamped = BazelEvent & { isLast: boolean };

/** The parts that an id may have. */
const KINDS: ReadonlySet<string> = new Set(
  'unknown progress started unstructuredCommandLine structuredCommandLine workspaceStatus optionsParsed fetch configuration targetConfigured pattern patternSkipped namedSet targetCompleted actionCompleted unconfiguredLabel configuredLabel testResult testProgress testSummary targetSummary buildFinished buildToolLogs buildMetrics workspace workspaceConfig buildMetadata convenienceSymlinksIdentified execRequest'.split(
    ' ',
  ),
);

type Raw = Readonly<Record<string, unknown>>;
const isObject = (value: unknown): value is Raw => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Null for anything else. Most events are passed over, so only those that are read are decoded. */
export function eventOf(value: unknown): Stamped | null {
  if (!isObject(value) || !isObject(value.id)) return null;
  const [[kind, id] = ['', null]] = Object.entries(value.id);
  return KINDS.has(kind) ? { ...contentOf(kind, id, value), isLast: value.lastMessage === true } : null;
}

function contentOf(kind: string, id: unknown, raw: Raw): BazelEvent {
  if (raw.aborted !== undefined) return abortedOf(id, raw.aborted);
  if (kind === 'testResult') {
    const resultId = resultIdSchema.safeParse(id).data;
    const result = resultSchema.safeParse(raw.testResult).data;
    return resultId && result ? { kind, id: resultId, result } : { kind: 'unreadable' };
  }
  if (kind === 'testSummary') {
    const target = targetSchema.safeParse(id).data;
    const summary = summarySchema.safeParse(raw.testSummary).data;
    return target && summary ? { kind, id: target, summary } : { kind: 'unreadable' };
  }
  if (kind === 'configuration') {
    const { mnemonic = '', cpu = '' } = configurationSchema.safeParse(raw.configuration).data ?? {};
    return { kind, id: z.object({ id: text }).safeParse(id).data?.id ?? '', mnemonic, cpu };
  }
  if (kind === 'started')
    return { kind, version: z.object({ buildToolVersion: text }).safeParse(raw.started).data?.buildToolVersion ?? '' };
  if (kind === 'targetCompleted') {
    const isBuilt = z.object({ success: z.literal(true) }).safeParse(raw.completed).success;
    if (!isBuilt) return { kind: 'notBuilt', label: targetSchema.safeParse(id).data?.label ?? '' };
  }
  return { kind: 'other' };
}

function abortedOf(id: unknown, content: unknown): BazelEvent {
  const { reason = '', description = '' } = abortedSchema.safeParse(content).data ?? {};
  const label = targetSchema.safeParse(id).data?.label ?? '';
  // A target that does not fit the platform.
  return reason === 'SKIPPED' ? { kind: 'other' } : { kind: 'aborted', label, reason, description };
}
