/** The filters and the window that both reads of the log take. */
import { EVENT_OUTCOMES } from '../domain/event-metadata.ts';
import { EVENT_TYPE_ALIASES, EVENT_TYPES, eventTypeOf } from '../domain/events.ts';
import { NAME_LENGTH_MAX, PULL_REQUEST_NUMBER_MAX } from '../domain/limits.ts';
import { DAY_MS } from '../domain/time.ts';
import { resolveWindow, type Window } from '../domain/window.ts';
import {
  branchParameter,
  enumsParameter,
  integersParameter,
  momentParameter,
  type QueryOf,
  textsParameter,
} from '../http/parameters.ts';
import { type InputError, unprocessable } from '../http/problems.ts';

const WINDOW_DAYS_MAX = 93;

const olderNames = Object.entries(EVENT_TYPE_ALIASES)
  .map(([alias, type]) => `\`${alias}\` is an older name of \`${type}\``)
  .join('; ');
const typeNames = [...EVENT_TYPES, ...Object.keys(EVENT_TYPE_ALIASES)];

const REPEAT = 'Repeat it for several.';
/** The examples of a document are those of one request, which cannot have a filter and its opposite. */
const NO_EXAMPLE: [] = [];

const pulls = (description: string, example: number[]) =>
  integersParameter(1, PULL_REQUEST_NUMBER_MAX, { description: `${description} ${REPEAT}`, example });
const types = (description: string, example: string[]) =>
  enumsParameter(typeNames, { description: `${description} ${REPEAT} ${olderNames}.`, example });
const outcomes = (description: string, example: string[]) =>
  enumsParameter(EVENT_OUTCOMES, { description: `${description} ${REPEAT}`, example });
const triggers = (description: string, example: string[]) =>
  textsParameter(NAME_LENGTH_MAX, { description: `${description} ${REPEAT}`, example });

export const filterQuery = {
  pull_request: pulls('Only events of this pull request.', [7]),
  not_pull_request: pulls('No events of this pull request.', NO_EXAMPLE),
  batch_pull: pulls('Only events of a batch of the merge queue that holds this pull request.', NO_EXAMPLE),
  not_batch_pull: pulls('No events of a batch of the merge queue that holds this pull request.', NO_EXAMPLE),
  base_ref: branchParameter({
    description: 'Only events of pull requests that target this branch.',
    example: 'main',
  }),
  event_type: types('Only events of this type.', ['action.merge']),
  not_event_type: types('No events of this type.', NO_EXAMPLE),
  outcome: outcomes('Only events with this outcome.', ['success']),
  not_outcome: outcomes('No events with this outcome.', NO_EXAMPLE),
  trigger: triggers('Only events with exactly this trigger.', ['@octocat']),
  not_trigger: triggers('No events with exactly this trigger.', NO_EXAMPLE),
  received_from: momentParameter({ description: 'Start of the window, inclusive; defaults to a day before its end.' }),
  received_to: momentParameter({
    description: 'End of the window, exclusive; defaults to now.',
    example: '2026-11-21T22:00:00Z',
  }),
};

type Asked = QueryOf<typeof filterQuery>;

/** Filters of the same field: a request may have one of both, or it would be unclear. */
const EXCLUSIVE = [
  ['pull_request', 'not_pull_request'],
  ['batch_pull', 'not_batch_pull'],
  ['event_type', 'not_event_type'],
  ['outcome', 'not_outcome'],
  ['trigger', 'not_trigger'],
] as const;

/**
 * The filters of a request as parameters of a statement; an empty list filters nothing. Throws 422 for a filter together
 * with its opposite.
 */
export function filtersOf(asked: Asked) {
  const errors = EXCLUSIVE.flatMap(([only, not]): InputError[] =>
    asked[only].length > 0 && asked[not].length > 0
      ? [{ loc: ['query', not], msg: `cannot be combined with ${only}: send one of them`, type: 'exclusive' }]
      : [],
  );
  if (errors.length > 0) throw unprocessable(errors);
  return {
    pull_requests: asked.pull_request,
    not_pull_requests: asked.not_pull_request,
    batch_pulls: asked.batch_pull,
    not_batch_pulls: asked.not_batch_pull,
    base_refs: asked.base_ref === undefined ? [] : [asked.base_ref],
    types: typesOf(asked.event_type),
    not_types: typesOf(asked.not_event_type),
    outcomes: asked.outcome,
    not_outcomes: asked.not_outcome,
    triggers: asked.trigger,
    not_triggers: asked.not_trigger,
  };
}
export type EventFilters = ReturnType<typeof filtersOf>;

const typesOf = (names: readonly string[]): string[] =>
  [...new Set(names.flatMap((type) => eventTypeOf(type) ?? []))].sort();

/** The types of these parameters in a statement. */
export const filterParameters = {
  pull_requests: 'Array(UInt32)',
  not_pull_requests: 'Array(UInt32)',
  batch_pulls: 'Array(UInt32)',
  not_batch_pulls: 'Array(UInt32)',
  base_refs: 'Array(String)',
  types: 'Array(String)',
  not_types: 'Array(String)',
  outcomes: 'Array(String)',
  not_outcomes: 'Array(String)',
  triggers: 'Array(String)',
  not_triggers: 'Array(String)',
} as const;

/** Throws 422 for an empty window and for one that is too long. */
export function checkedWindow({ received_from: from, received_to: to }: Asked, now: number): Window {
  const window = resolveWindow(from, to ?? now, now);
  if (window.start >= window.end) throw badWindow('must be before received_to, which defaults to now');
  return shortEnough(window);
}

/** The window, also that of a cursor. Throws 422 for one that is too long. */
export function shortEnough(window: Window): Window {
  if (window.end - window.start <= WINDOW_DAYS_MAX * DAY_MS) return window;
  throw badWindow(`is more than ${WINDOW_DAYS_MAX} days before received_to; ask for a shorter window`);
}

const badWindow = (msg: string) => unprocessable([{ loc: ['query', 'received_from'], msg, type: 'invalid_window' }]);
