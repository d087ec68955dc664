/**
 * The `pr-events` job, version 1: what happened on pull requests of one repository, and their current state.
 *
 * The schema checks the envelope. {@link readEvent} checks the type and `metadata` of each event, so that a bad event
 * is reported without holding up the others. `docs/pr-events.v1.schema.json` is generated from both.
 */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { EVENT_METADATA } from '../domain/event-metadata.ts';
import { EVENT_TYPES, eventTypeOf, type NewEvent } from '../domain/events.ts';
import { HOST_KINDS } from '../domain/host-page.ts';
import { DEFAULT_HOST } from '../domain/identity.ts';
import { NAME_LENGTH_MAX, PULL_REQUEST_NUMBER_MAX, PULL_REQUEST_TITLE_LENGTH_MAX } from '../domain/limits.ts';
import { metadataRejection } from '../domain/metadata-limits.ts';
import { ownerSchema, repositoryNameSchema } from '../domain/repository-path.ts';
import { malformedReason } from '../domain/text.ts';
import { defineJob, toJsonSchema } from './job-kind.ts';

/** With more, a retry repeats too much. */
export const JOB_EVENTS_MAX = 1_000;

const KEY_LENGTH_MAX = 1_000;

const text = (max: number) =>
  z
    .string()
    .max(max)
    .superRefine((value, context) => {
      const reason = malformedReason(value);
      if (reason) context.addIssue({ code: 'custom', message: reason });
    });

const eventSchema = z.object({
  key: text(KEY_LENGTH_MAX)
    .min(1)
    .describe('Names the event within the repository: an event that is sent again under the same key counts once'),
  type: z.string().describe('One of the event types'),
  trigger: text(NAME_LENGTH_MAX).describe('What caused the event: @login of a user, or the name of a rule'),
  pull_request: z.int().min(1).max(PULL_REQUEST_NUMBER_MAX).nullable().default(null),
  base_ref: text(NAME_LENGTH_MAX).nullable().default(null).describe('Branch that the pull request targets'),
  metadata: z
    .record(z.string(), z.unknown())
    .default({})
    .describe('Details, as the type defines them; other fields are kept as sent'),
});

export const pullRequestSchema = z.object({
  number: z.int().min(1).max(PULL_REQUEST_NUMBER_MAX),
  id: z.int().min(0).describe("The host's id of the pull request"),
  title: text(PULL_REQUEST_TITLE_LENGTH_MAX),
  author: z
    .object({ id: z.int().min(0), login: text(NAME_LENGTH_MAX) })
    .nullable()
    .default(null)
    .describe('Null when the account is gone'),
  is_author_unknown: z
    .boolean()
    .optional()
    .describe('True: the host does not say who the author is, and who is known stays; `author` is null then'),
  base_ref: text(NAME_LENGTH_MAX).nullable().default(null),
  head_ref: text(NAME_LENGTH_MAX)
    .nullable()
    .default(null)
    .describe('The branch to merge; `owner:branch` if it is in another repository (a fork)'),
  head_commit: text(NAME_LENGTH_MAX).nullable().default(null),
  merge_commit: text(NAME_LENGTH_MAX)
    .nullable()
    .default(null)
    .describe('The commit that the pull request was merged as; null until then'),
  updated_at: z.iso.datetime({ offset: true }).describe('Of two versions, the later one is kept'),
  merged_at: z.iso
    .datetime({ offset: true })
    .nullable()
    .optional()
    .describe('When it was merged. If the event log has no merge of it, it gets an action.merge event at that time'),
  merged_by: text(NAME_LENGTH_MAX)
    .nullable()
    .optional()
    .describe('The login of who merged it; without it, the trigger of that event is `import`'),
});
export type PullRequestVersion = z.infer<typeof pullRequestSchema>;

const deletedBranchSchema = z.object({
  key: text(KEY_LENGTH_MAX).min(1).describe('The key of the event that results'),
  branch: text(NAME_LENGTH_MAX).min(1).describe('Without `refs/heads/`'),
  trigger: text(NAME_LENGTH_MAX).describe('Who deleted it: @login of a user'),
});

export type DeletedBranch = z.infer<typeof deletedBranchSchema>;

export const prEventsSchema = z.object({
  v: z.literal(1),
  repository: z.object({
    host: text(NAME_LENGTH_MAX).min(1).default(DEFAULT_HOST),
    owner: ownerSchema,
    name: repositoryNameSchema,
  }),
  default_branch: text(NAME_LENGTH_MAX)
    .nullable()
    .default(null)
    .describe("The repository's default branch, as the host knows it"),
  page_url: text(NAME_LENGTH_MAX).nullable().default(null).describe('The address of the repository on its host'),
  page_kind: z.enum(HOST_KINDS).default('github').describe('The kind of that host'),
  renamed_from: z
    .object({ owner: ownerSchema, name: repositoryNameSchema })
    .nullable()
    .default(null)
    .describe('The previous path of the repository, which keeps its id, tests and history'),
  pull_requests: z.array(pullRequestSchema).max(JOB_EVENTS_MAX).default([]),
  events: z.array(eventSchema).max(JOB_EVENTS_MAX).default([]),
  deleted_branches: z
    .array(deletedBranchSchema)
    .max(JOB_EVENTS_MAX)
    .default([])
    .describe(
      'Branches that were deleted. If the newest pull request with such a head_ref was merged, it gets an action.delete_head_branch event',
    ),
});

export type PrEventsJob = z.infer<typeof prEventsSchema>;
export type JobEvent = PrEventsJob['events'][number];

/** The event for the log, or the reason why there is none. */
export function readEvent(event: JobEvent): { event: NewEvent } | { reason: string } {
  const type = eventTypeOf(event.type);
  if (type === undefined) return { reason: `there is no event type ${JSON.stringify(event.type.slice(0, 100))}` };
  const rejection = metadataRejection(event.metadata);
  if (rejection !== null) return { reason: `metadata of ${type} ${rejection}` };
  const metadata = EVENT_METADATA[type].schema.safeParse(event.metadata);
  if (!metadata.success) return { reason: `metadata of ${type}: ${z.prettifyError(metadata.error)}` };
  return {
    event: {
      type,
      trigger: event.trigger,
      pullRequest: event.pull_request,
      baseRef: event.base_ref,
      metadata: metadata.data,
    },
  };
}

/** The same with every type and its metadata, as {@link readEvent} takes them. */
function documentedSchema(): z.ZodType {
  const types = EVENT_TYPES.map((type) =>
    toJsonSchema(z.object({ type: z.literal(type), metadata: EVENT_METADATA[type].schema })),
  );
  return prEventsSchema.extend({
    events: z
      .array(eventSchema.meta({ oneOf: types }))
      .max(JOB_EVENTS_MAX)
      .default([]),
  });
}

/** Names a job by an id that its source gave it, whatever that id looks like. */
export const prEventsJobId = (id: string): string => `events-${createHash('sha256').update(id).digest('base64url')}`;

/**
 * The host deletes the branch in the second in which it merges the pull request, and sends both deliveries in either
 * order: the deletion is handled a little later, when the merge is known.
 */
const DELETED_BRANCH_DELAY_MS = 2_000;

export const prEvents = defineJob({
  name: 'pr-events',
  version: 1,
  schema: prEventsSchema,
  documentedSchema,
  description:
    'What happened on pull requests of one repository: at most 1,000 events. An event of a type that is not listed here, or whose metadata does not fit its type, goes to the dead letters; the others are kept.',
  // The log shows events in the order in which their jobs are worked on. A job of one event takes a few milliseconds.
  concurrency: 1,
  isOrdered: true,
  id: (payload) => prEventsJobId(JSON.stringify(payload)),
  delayMs: ({ deleted_branches = [] }) => (deleted_branches.length > 0 ? DELETED_BRANCH_DELAY_MS : 0),
});
