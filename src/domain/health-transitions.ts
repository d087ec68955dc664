/**
 * When the health of a test changed, from the changes of its identities (test, pipeline, CI job): at every moment, a test is
 * as its worst identity that counts. Pure.
 */
import { HEALTH_RECENT_DAYS } from './judgement-constants.ts';
import { HEALTHS, type Health, worstHealth } from './status.ts';
import { DAY_MS } from './time.ts';

export interface IdentityHistory<Change extends { at: number; after: Health }> {
  /** In order of time; before the first, the identity is healthy. */
  changes: readonly Change[];
  /** When its newest execution finished; milliseconds since the epoch. */
  newestAt: number;
}

export interface HealthTransition<Change> {
  /** Milliseconds since the epoch. */
  at: number;
  health: Health;
  /** The change that made an identity so, of several the last; undefined of healthy. */
  cause: Change | undefined;
}

/**
 * The transitions of a test, oldest first; neighbours differ, and the first differs from healthy. An identity counts until
 * it has not run for {@link HEALTH_RECENT_DAYS} days while another did, so that the last one is the health of the test now.
 */
export function healthTransitions<Change extends { at: number; after: Health }>(
  identities: readonly IdentityHistory<Change>[],
): HealthTransition<Change>[] {
  const newestAt = Math.max(...identities.map((identity) => identity.newestAt));
  const events = identities.flatMap(({ changes, newestAt: lastAt }, identity) => {
    const steps: Step<Change>[] = changes.map((cause) => ({ identity, at: cause.at, health: cause.after, cause }));
    const endsAt = lastAt + HEALTH_RECENT_DAYS * DAY_MS;
    return endsAt <= newestAt ? [...steps, { identity, at: endsAt, health: HEALTHS[0], cause: undefined }] : steps;
  });
  // At the same moment, in the order of the identities, so that the answer is always the same.
  events.sort((one, other) => one.at - other.at || one.identity - other.identity);
  const states = identities.map((): State<Change> => ({ health: 'healthy', cause: undefined }));
  const transitions: HealthTransition<Change>[] = [];
  let before: Health = 'healthy';
  for (const { identity, at, ...state } of events) {
    states[identity] = state;
    const now = worstHealth(states.map(({ health }) => health));
    if (now === before) continue;
    transitions.push({ at, health: now, cause: causeOf(now, states) });
    before = now;
  }
  return transitions;
}

/**
 * What a transition means for people: a test became broken or flaky; it recovered, perhaps by chance; or it was fixed,
 * because what always fails does not pass by chance.
 */
export const TURNS = ['turned_broken', 'turned_flaky', 'recovered', 'fixed'] as const;
export type Turn = (typeof TURNS)[number];

export const noTurns = (): Record<Turn, number> => ({ turned_broken: 0, turned_flaky: 0, recovered: 0, fixed: 0 });

function turnOf(before: Health, after: Health): Turn {
  if (after === 'healthy') return before === 'broken' ? 'fixed' : 'recovered';
  return after === 'broken' ? 'turned_broken' : 'turned_flaky';
}

/** A transition, with what was before. */
export interface TurnOfTest<Change> {
  turn: Turn;
  at: number;
  before: Health;
  after: Health;
  cause: Change | undefined;
}

/** The transitions of a test as turns, oldest first. */
export const turnsOf = <Change extends { at: number; after: Health }>(
  identities: readonly IdentityHistory<Change>[],
): TurnOfTest<Change>[] =>
  healthTransitions(identities).map(({ at, health: after, cause }, i, all) => {
    const before = all[i - 1]?.health ?? 'healthy';
    return { at, before, after, cause, turn: turnOf(before, after) };
  });

interface State<Change> {
  health: Health;
  cause: Change | undefined;
}

interface Step<Change> extends State<Change> {
  identity: number;
  at: number;
}

function causeOf<Change extends { at: number }>(health: Health, states: readonly State<Change>[]): Change | undefined {
  let last: Change | undefined;
  if (health === 'healthy') return last;
  for (const state of states)
    if (state.health === health && state.cause && (!last || state.cause.at > last.at)) last = state.cause;
  return last;
}
