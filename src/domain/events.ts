/** The types of events, and the making of events that are checked against them. */
import type { z } from 'zod';
import { EVENT_METADATA } from './event-metadata.ts';

export type EventType = keyof typeof EVENT_METADATA;
/**
 * How what an event describes ended: `success` or `failure`; `pending`: another event will tell; `neutral`: it has no end.
 * It follows from type and metadata, by the default of a column (sql/clickhouse/0001_initial.sql).
 */
export const EVENT_OUTCOMES = ['success', 'failure', 'pending', 'neutral'] as const;

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
  /** What caused it: `@login`, the name of a key, a rule. */
  trigger: string;
  /** Null for an event without a pull request. */
  pullRequest: number | null;
  baseRef: string | null;
  metadata: EventMetadata<T>;
}

/** Only the fields that a shape names, so that the compiler finds a misspelt one. */
type Named<T> = { [K in keyof T as string extends K ? never : K]: T[K] };

/** Makes an event, with its metadata checked against its type. */
export const newEvent = <T extends EventType>(
  type: T,
  metadata: Named<z.input<(typeof EVENT_METADATA)[T]>>,
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
