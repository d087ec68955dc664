/** What the event log takes and answers (spec §2.2, §4.1, §6). */
import { z } from 'zod';
import { EVENT_METADATA, EVENT_TYPES, type EventType } from '../domain/events.ts';
import { NAME_LENGTH_MAX, PULL_REQUEST_NUMBER_MAX } from '../domain/limits.ts';
import {
  cursorParameter,
  enumsParameter,
  integersParameter,
  momentParameter,
  perPageParameter,
  textParameter,
} from '../http/parameters.ts';
import { owner, repository } from '../http/path.ts';

export const path = z.object({ owner, repository });

export const query = {
  pull_request: integersParameter(1, PULL_REQUEST_NUMBER_MAX, {
    description: 'Only events of this pull request. Repeat it for several.',
    example: [7],
  }),
  base_ref: textParameter(1, NAME_LENGTH_MAX, {
    description: 'Only events of pull requests that target this branch.',
    example: 'main',
  }),
  event_type: enumsParameter([...EVENT_TYPES, 'action.github_actions'], {
    description:
      'Only events of this type. Repeat it for several. `action.github_actions` is an older name of `action.vcs_actions`.',
    example: ['action.merge'],
  }),
  received_from: momentParameter({ description: 'Start of the window, inclusive; a day before its end when absent.' }),
  received_to: momentParameter({
    description: 'End of the window, exclusive; now when absent.',
    example: '2026-11-21T22:00:00Z',
  }),
  cursor: cursorParameter(),
  per_page: perPageParameter(),
};

const id = z.int().meta({ description: 'Goes up with `received_at`', example: 1_795_253_400_000_001 });
const receivedAt = z.iso.datetime().meta({ example: '2026-11-21T09:30:00.000Z' });
const trigger = z.string().meta({
  description: 'What brought it about: `@login` of a user, the name of a key, a rule',
  example: '@octocat',
});
const repositoryName = z.string().meta({ example: 'shop' });
const pullRequest = z.int().nullable().meta({ description: 'Null where the event is of no pull request', example: 7 });
const baseRef = z.string().nullable().meta({ example: 'main' });

const eventOf = <T extends EventType>(type: T) =>
  z
    .object({
      id,
      received_at: receivedAt,
      trigger,
      repository: repositoryName,
      pull_request: pullRequest,
      base_ref: baseRef,
      type: z.literal(type),
      metadata: EVENT_METADATA[type] as z.ZodType<Record<string, unknown>>,
    })
    .meta({ id: `Event.${type}` });

const [first, ...others] = EVENT_TYPES;

/** One shape for each type, told apart by `type`. */
export const eventSchema = z.discriminatedUnion('type', [eventOf(first), ...others.map((type) => eventOf(type))]).meta({
  id: 'Event',
  // OpenAPI's own word for it, which generators of clients look for.
  discriminator: {
    propertyName: 'type',
    mapping: Object.fromEntries(EVENT_TYPES.map((type) => [type, `#/components/schemas/Event.${type}`])),
  },
});

export const logSchema = z.object({
  size: z.int().meta({ description: 'Items in this page', example: 1 }),
  per_page: z.int().meta({ example: 10 }),
  events: z.array(eventSchema),
});
