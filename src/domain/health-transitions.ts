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
  /** What made the test so; undefined when an identity that no longer runs has ceased to count. */
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
  // Of the same moment, in the order of the identities, so that the answer is always the same.
  events.sort((one, other) => one.at - other.at || one.identity - other.identity);
  const healths = identities.map((): Health => 'healthy');
  const transitions: HealthTransition<Change>[] = [];
  let before: Health = 'healthy';
  for (const { identity, at, health, cause } of events) {
    healths[identity] = health;
    const now = worstHealth(healths);
    if (now === before) continue;
    transitions.push({ at, health: now, cause });
    before = now;
  }
  return transitions;
}

interface Step<Change> {
  identity: number;
  at: number;
  health: Health;
  cause: Change | undefined;
}
