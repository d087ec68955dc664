/**
 * The catalogue of events: every type with the shape of its `metadata`. Written once, it checks what producers send,
 * types what the service writes, and becomes the discriminated union of the OpenAPI document.
 *
 * A field that the source does not know is null. A shape may gain fields with a default and never loses one, because
 * the log keeps what was written before.
 */
import { z } from 'zod';
import { COMMENT_LENGTH_MAX, TEST_NAME_LENGTH_MAX } from './limits.ts';
import { AUTO_QUARANTINE_MODES, QUARANTINE_SOURCES } from './quarantine-rules.ts';

const LIST_LENGTH_MAX = 1_000;

/** Any name; those of tests are the longest. */
const name = z.string().max(TEST_NAME_LENGTH_MAX);
const text = z.string().max(COMMENT_LENGTH_MAX);
const count = z.int().min(0);
const pullNumber = z.int().min(1);
const names = z.array(name).max(LIST_LENGTH_MAX);
const moment = z.iso.datetime({ offset: true });
const maybe = <T extends z.ZodType>(type: T) => type.nullable().default(null);

const maybeName = maybe(name);
const maybeText = maybe(text);

/** Any action may have been taken by a rule of the merge queue's configuration. */
const action = <S extends z.ZodRawShape>(shape: S) => z.object({ ...shape, rule: maybeName });

const copyAction = action({ to: maybeName, pull_request_number: maybe(pullNumber), conflicts: maybe(z.boolean()) });

/** Where a pull request is in a queue. `session_id` is the queue's id of one stay in it. */
const queuePlace = {
  queue_name: maybeName,
  branch: maybeName,
  partition_name: maybeName,
  position: maybe(count),
  queued_at: maybe(moment),
  session_id: maybeName,
};

const speculativeCheck = z.object({
  number: maybe(pullNumber),
  in_place: maybe(z.boolean()),
  checks_conclusion: maybeName,
  checks_timed_out: maybe(z.boolean()),
  checks_started_at: maybe(moment),
  checks_ended_at: maybe(moment),
});
const queueChecks = { ...queuePlace, speculative_check_pull_request: maybe(speculativeCheck) };

const bisection = {
  queue_name: maybeName,
  branch: maybeName,
  partition_name: maybeName,
  pull_requests: z.array(pullNumber).max(LIST_LENGTH_MAX).default([]),
};

const pause = z.object({ queue_name: maybeName, reason: maybeText });

const freeze = z.object({
  freeze_id: maybeName,
  reason: maybeText,
  start: maybe(moment),
  end: maybe(moment),
  timezone: maybeName,
  matching_conditions: names.default([]),
});

const autoQuarantine = z.object({
  mode: z.enum(AUTO_QUARANTINE_MODES),
  previous_mode: z.enum(AUTO_QUARANTINE_MODES),
});

const command = z.object({ command: text, queue_name: maybeName, comment_id: maybe(z.int()) });

const quarantine = z.object({
  quarantine_id: z.uuid(),
  test_id: z.uuid(),
  test_name: name,
  branch: maybeName,
  reason: text,
  source: z.enum(QUARANTINE_SOURCES),
});

/** The shape of `metadata` by event type, in the order of the API's documentation. */
export const EVENT_METADATA = {
  'action.assign': action({ added: names.default([]), removed: names.default([]) }),
  'action.backport': copyAction,
  'action.close': action({ message: maybeText }),
  'action.comment': action({ message: maybeText }),
  'action.copy': copyAction,
  'action.delete_head_branch': action({ branch: maybeName }),
  'action.dequeue': action({ reason: maybeText }),
  'action.dismiss_reviews': action({ users: names.default([]), message: maybeText }),
  'action.edit': action({ draft: maybe(z.boolean()), changed: names.default([]) }),
  'action.vcs_actions': action({
    workflow: maybeName,
    inputs: z.record(name, z.union([text, z.number(), z.boolean()])).default({}),
  }),
  'action.label': action({ added: names.default([]), removed: names.default([]) }),
  'action.merge': action({ branch: maybeName, commit: maybeName }),
  'action.post_check': action({ conclusion: maybeName, title: maybeText, summary: maybeText }),
  'action.queue.batch_bisection_end': z.object({
    ...bisection,
    failed_pull_requests: z.array(pullNumber).max(LIST_LENGTH_MAX).default([]),
  }),
  'action.queue.batch_bisection_start': z.object({ ...bisection, reason: maybeText }),
  'action.queue.change': z.object({
    queue_name: maybeName,
    partition_name: maybeName,
    size: maybe(count),
    running_checks: maybe(count),
  }),
  'action.queue.checks.change': z.object(queueChecks),
  'action.queue.checks_end': z.object({
    ...queueChecks,
    aborted: maybe(z.boolean()),
    abort_code: maybeName,
    abort_reason: maybeText,
    abort_status: maybeName,
  }),
  'action.queue.checks_not_started': z.object({ ...queuePlace, reason: maybeText }),
  'action.queue.checks_start': z.object(queueChecks),
  'action.queue.enter': z.object(queuePlace),
  'action.queue.leave': z.object({
    ...queuePlace,
    reason: maybeText,
    merged: maybe(z.boolean()),
    seconds_waiting_for_schedule: maybe(z.number().min(0)),
    seconds_waiting_for_freeze: maybe(z.number().min(0)),
  }),
  'action.queue.merged': z.object({ ...queuePlace, commit: maybeName }),
  'action.rebase': action({ before: maybeName, after: maybeName }),
  'action.refresh': action({}),
  'action.request_reviews': action({ reviewers: names.default([]), team_reviewers: names.default([]) }),
  'action.review': action({ type: maybeName, reviewer: maybeName, message: maybeText }),
  'action.squash': action({ before: maybeName, after: maybeName }),
  'action.update': action({ before: maybeName, after: maybeName }),
  'ci_insights.auto_quarantine.disabled': autoQuarantine,
  'ci_insights.auto_quarantine.enabled': autoQuarantine,
  'ci_insights.auto_quarantine.modified': autoQuarantine,
  'ci_insights.job_retried': z.object({
    pipeline_name: maybeName,
    job_name: maybeName,
    run_id: maybeName,
    run_attempt: maybe(z.int().min(1)),
    commit: maybeName,
    branch: maybeName,
  }),
  'command.dequeue': command,
  'command.queue': command,
  'queue.pause.create': pause,
  'queue.pause.delete': pause,
  'queue.pause.update': pause,
  'scheduled_freeze.create': freeze,
  'scheduled_freeze.delete': freeze,
  'scheduled_freeze.update': freeze,
  'test.dequarantined': quarantine,
  'test.quarantined': quarantine,
} as const satisfies Record<string, z.ZodType>;

export type EventType = keyof typeof EVENT_METADATA;
export const EVENT_TYPES = Object.keys(EVENT_METADATA) as [EventType, ...EventType[]];

/** The metadata of a type as stored: complete, with null for what is unknown. */
export type EventMetadata<T extends EventType> = z.output<(typeof EVENT_METADATA)[T]>;

/** Older name of a type → the name that is stored and shown. */
export const EVENT_TYPE_ALIASES: Readonly<Record<string, EventType>> = {
  'action.github_actions': 'action.vcs_actions',
};

/** The type with this name or older name; undefined if there is none. */
export function eventTypeOf(value: string): EventType | undefined {
  if (Object.hasOwn(EVENT_METADATA, value)) return value as EventType;
  return Object.hasOwn(EVENT_TYPE_ALIASES, value) ? EVENT_TYPE_ALIASES[value] : undefined;
}

/** An event before it is written: it gets its id and time then. */
export interface NewEvent<T extends EventType = EventType> {
  type: T;
  /** What caused it: `@login`, the name of a key, a rule. */
  trigger: string;
  /** Null for an event without a pull request. */
  pullRequest: number | null;
  baseRef: string | null;
  metadata: EventMetadata<T>;
}

/** Makes an event, with its metadata checked against its type. */
export const newEvent = <T extends EventType>(
  type: T,
  metadata: z.input<(typeof EVENT_METADATA)[T]>,
  {
    trigger,
    pullRequest = null,
    baseRef = null,
  }: { trigger: string; pullRequest?: number | null; baseRef?: string | null },
): NewEvent<T> => ({
  type,
  trigger,
  pullRequest,
  baseRef,
  metadata: EVENT_METADATA[type].parse(metadata) as EventMetadata<T>,
});
