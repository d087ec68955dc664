/** What a delivery tells, in the words of the log: the result of the mapping, before it becomes a job. */
import type { NewEvent } from '../../domain/events.ts';
import type { PullRequestVersion } from '../../queue/pr-events.ts';
import type { Account } from './payloads.ts';
import { fitName } from './texts.ts';

export interface ToldEvent extends NewEvent {
  /** Names what happened, where the host tells of it in several deliveries; otherwise the delivery's id does. */
  key?: string;
}

export interface Told {
  events: ToldEvent[];
  pullRequest: PullRequestVersion | null;
  /** A branch of the repository that is gone. */
  deletedBranch: string | null;
  /** The path that the repository had until now. */
  renamedFrom?: { owner: string; name: string };
  /** Why there is no event in it, as the end of a sentence about the delivery; null when there is one. */
  reason: string | null;
}

/** A delivery of which the log has no event; its pull request is kept all the same. */
export const nothing = (reason: string, pullRequest: PullRequestVersion | null = null): Told => ({
  events: [],
  pullRequest,
  deletedBranch: null,
  reason,
});

/** For actions that change nothing that the log tells of. */
export const otherAction = (action: string | undefined, pullRequest: PullRequestVersion | null = null): Told =>
  nothing(`has the action ${action ?? '(none)'}, of which the event log has nothing`, pullRequest);

export const told = (events: ToldEvent[], pullRequest: PullRequestVersion | null = null): Told => ({
  events,
  pullRequest,
  deletedBranch: null,
  reason: null,
});

/** The host's stand-in for an account that is gone. */
const GHOST = 'ghost';

/** `@login` of who did it. */
export const triggerOf = (sender: Account): string => fitName(`@${sender?.login ?? GHOST}`);

/** What every event of a delivery has beside its type and metadata. */
export interface About {
  trigger: string;
  pullRequest: number | null;
  baseRef: string | null;
}
