/** The result of mapping a delivery, in the terms of the event log, before it becomes a job. */
import type { NewEvent } from '../../domain/events.ts';
import type { RepositoryName } from '../../domain/repository-path.ts';
import type { PullRequestVersion } from '../../queue/pr-events.ts';
import { fitName } from './texts.ts';

export interface DeliveryEvent extends NewEvent {
  /** Identifies what happened if the host reports it in several deliveries; by default the id of the delivery does. */
  key?: string;
}

export interface Outcome {
  events: DeliveryEvent[];
  pullRequest: PullRequestVersion | null;
  /** Deleted branches of the repository. */
  deletedBranches: { branch: string; trigger: string }[];
  /** The path of the repository before a rename or a transfer. */
  renamedFrom?: RepositoryName;
  /** Why it makes no event, in a sentence; null if it makes one. */
  reason: string | null;
}

/** A delivery that makes no event; its pull request is kept all the same. */
export const noEvent = (reason: string, pullRequest: PullRequestVersion | null = null): Outcome => ({
  events: [],
  pullRequest,
  deletedBranches: [],
  reason,
});

/** For actions that the event log does not cover. */
export const otherAction = (action: string | undefined, pullRequest: PullRequestVersion | null = null): Outcome =>
  noEvent(`There is no event for the action ${action ?? '(none)'}.`, pullRequest);

export const withEvents = (events: DeliveryEvent[], pullRequest: PullRequestVersion | null = null): Outcome => ({
  events,
  pullRequest,
  deletedBranches: [],
  reason: null,
});

/** The login that stands for a deleted account, as GitHub shows it. */
const GHOST = 'ghost';

/** `@login` of who did it; null: the account is gone. */
export const triggerOf = (login: string | null | undefined): string => fitName(`@${login ?? GHOST}`);

/** Fields that every event has besides its type and metadata. */
export interface EventBase {
  trigger: string;
  pullRequest: number | null;
  baseRef: string | null;
}
