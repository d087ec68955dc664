/** The input and output of the event log. */
import { z } from 'zod';
import { EVENT_METADATA, EVENT_TYPE_ALIASES, EVENT_TYPES, type EventType } from '../domain/events.ts';
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

const olderNames = Object.entries(EVENT_TYPE_ALIASES)
  .map(([alias, type]) => `\`${alias}\` is an older name of \`${type}\``)
  .join('; ');

export const query = {
  pull_request: integersParameter(1, PULL_REQUEST_NUMBER_MAX, {
    description: 'Only events of this pull request. Repeat it for several.',
    example: [7],
  }),
  base_ref: textParameter(1, NAME_LENGTH_MAX, {
    description: 'Only events of pull requests that target this branch.',
    example: 'main',
  }),
  event_type: enumsParameter([...EVENT_TYPES, ...Object.keys(EVENT_TYPE_ALIASES)], {
    description: `Only events of this type. Repeat it for several. ${olderNames}.`,
    example: ['action.merge'],
  }),
  received_from: momentParameter({ description: 'Start of the window, inclusive; defaults to a day before its end.' }),
  received_to: momentParameter({
    description: 'End of the window, exclusive; defaults to now.',
    example: '2026-11-21T22:00:00Z',
  }),
  cursor: cursorParameter(),
  per_page: perPageParameter(),
};

const eventOf = (type: EventType) =>
  z
    .object({
      id: z.int().meta({ description: 'Increases with `received_at`', example: 1_795_253_400_000_001 }),
      received_at: z.iso.datetime().meta({ example: '2026-11-21T09:30:00.000Z' }),
      trigger: z.string().meta({
        description: 'Who or what caused the event: `@login` of a user, the name of a key, or a rule',
        example: '@octocat',
      }),
      repository: z.string().meta({ example: 'shop' }),
      pull_request: z
        .int()
        .nullable()
        .meta({ description: 'Null for an event that belongs to no pull request', example: 7 }),
      base_ref: z.string().nullable().meta({ example: 'main' }),
      type: z.literal(type),
      metadata: EVENT_METADATA[type],
    })
    .meta({ id: `Event.${type}` });

const [first, ...others] = EVENT_TYPES;

/** One shape per type, discriminated by `type`. */
export const eventSchema = z.discriminatedUnion('type', [eventOf(first), ...others.map(eventOf)]).meta({
  id: 'Event',
  // OpenAPI's word for it, which client generators look for.
  discriminator: {
    propertyName: 'type',
    mapping: Object.fromEntries(EVENT_TYPES.map((type) => [type, `#/components/schemas/Event.${type}`])),
  },
});

export const logSchema = z.object({
  size: z.int().meta({ description: 'Items in this page', example: 1 }),
  per_page: z.int().meta({ description: 'Items per page', example: 10 }),
  events: z.array(eventSchema),
});
