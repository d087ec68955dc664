/** Pull requests that left the merge queue without being merged, from the events of the queue. Pure. */
import type { Departure } from './cost.ts';

export interface QueueEvent {
  /** Milliseconds since the epoch. */
  at: number;
  step: 'enter' | 'leave' | 'checks_start' | 'checks_end';
  /** Of a step `leave`: that the pull request was not merged. */
  hasFailed: boolean;
  /** The pull requests that it is about: one, or those of a batch. */
  pulls: readonly number[];
  headCommit: string | null;
  /** The pull request in which the queue checks them; null: not said. */
  checkedIn: number | null;
}

/** One for each stay in the queue that ended so. A stay whose beginning is not known began with the first event of it. */
export function departuresOf(events: readonly QueueEvent[]): Departure[] {
  const stays = new Map<number, { enteredAt: number; checkedIn: Set<number> }>();
  const found: Departure[] = [];
  for (const { at, step, hasFailed, pulls, headCommit, checkedIn } of events)
    for (const pullRequest of pulls) {
      const stay = (step === 'enter' ? undefined : stays.get(pullRequest)) ?? { enteredAt: at, checkedIn: new Set() };
      if (checkedIn !== null) stay.checkedIn.add(checkedIn);
      if (step !== 'leave') {
        stays.set(pullRequest, stay);
        continue;
      }
      stays.delete(pullRequest);
      if (hasFailed)
        found.push({ pullRequest, enteredAt: stay.enteredAt, leftAt: at, headCommit, checkedIn: [...stay.checkedIn] });
    }
  return found;
}
