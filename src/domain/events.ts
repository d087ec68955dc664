/** The types of events, and the making of events that are checked against them. */
import type { z } from 'zod';
import { EVENT_METADATA, type EventOutcome } from './event-metadata.ts';

export type EventType = keyof typeof EVENT_METADATA;

export const EVENT_TYPES = Object.keys(EVENT_METADATA) as [EventType, ...EventType[]];

/** The metadata of a type as stored: complete, with null for what is unknown. */
export type EventMetadata<T extends EventType> = z.output<(typeof EVENT_METADATA)[T]['schema']>;

/** Older name of a type → the name that is stored and shown. */
export const EVENT_TYPE_ALIASES: Readonly<Record<string, EventType>> = {
  'action.github_actions': 'action.vcs_actions',
};

/** The type with this name or older name; undefined if there is none. */
export function eventTypeOf(value: string): EventType | undefined {
  if (Object.hasOwn(EVENT_METADATA, value)) return value as EventType;
  return Object.hasOwn(EVENT_TYPE_ALIASES, value) ? EVENT_TYPE_ALIASES[value] : undefined;
}

/** Who did something: a user of the repository host, or an application with its key. */
export type EventActor = {
  type: 'user' | 'application';
  /** Null where the source does not say. */
  id: string | number | null;
  name: string;
};

/** An event before it is written: it gets its id and time then. */
export interface NewEvent<T extends EventType = EventType> {
  type: T;
  /** Its cause: `@login`, the name of a key, a rule. */
  trigger: string;
  /** Null for an event without a pull request. */
  pullRequest: number | null;
  baseRef: string | null;
  metadata: EventMetadata<T>;
}

const rules: { [T in EventType]: { outcome(metadata: EventMetadata<T>): EventOutcome } } = EVENT_METADATA;

export const outcomeOf = <T extends EventType>({
  type,
  metadata,
}: Pick<NewEvent<T>, 'type' | 'metadata'>): EventOutcome => rules[type].outcome(metadata);

/** Only the fields that a shape names, so that the compiler finds a misspelt one. */
type Named<T> = { [K in keyof T as string extends K ? never : K]: T[K] };

/** Makes an event, with its metadata checked against its type. */
export const newEvent = <T extends EventType>(
  type: T,
  metadata: Named<z.input<(typeof EVENT_METADATA)[T]['schema']>>,
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
  metadata: EVENT_METADATA[type].schema.parse(metadata) as EventMetadata<T>,
});
