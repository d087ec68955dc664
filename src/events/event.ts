/** An event as the API shows it: one shape per type. */
import { z } from 'zod';
import { EVENT_METADATA, EVENT_OUTCOMES } from '../domain/event-metadata.ts';
import { EVENT_TYPES, type EventType } from '../domain/events.ts';

const eventOf = (type: EventType) =>
  z
    .object({
      id: z.int().meta({
        description: 'Increases with `received_at`, except for imported merges',
        example: 1_795_253_400_000_001,
      }),
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
      outcome: z.enum(EVENT_OUTCOMES).meta({
        description: 'How what the event describes ended; `pending`: another event will tell; `neutral`: it has no end',
        example: 'neutral',
      }),
      metadata: EVENT_METADATA[type].schema,
    })
    .meta({ id: `Event.${type}` });

const [first, ...others] = EVENT_TYPES;

/** One shape per type, discriminated by `type`. */
const eventSchema = z.discriminatedUnion('type', [eventOf(first), ...others.map(eventOf)]).meta({
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
export type EventLog = z.output<typeof logSchema>;
