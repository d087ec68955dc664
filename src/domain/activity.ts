/**
 * Whether a health is worth an alarm now. A flaky test stays flaky until it has passed often enough, which may take months;
 * when it has not failed on its own for weeks, it is calm: still flaky, and no alarm. Follows from a stored moment and the
 * clock, so that nothing is written when time passes. Pure.
 */
import type { Belief } from './belief.ts';
import { windowUpTo } from './ratio-window.ts';
import type { Health } from './status.ts';

/** A flaky test that failed on its own on one of so many UTC days, the current one included, is active. */
export const ACTIVE_DAYS = 28;

/** From this moment on, a failure makes a flaky test active at `now`; milliseconds since the epoch. */
export const activeSince = (now: number): number => windowUpTo(now, ACTIVE_DAYS).start;

/**
 * When the test last failed on its own, or needed a retry for it: failures that their run explains are no evidence.
 * Milliseconds since the epoch; 0 for never.
 */
export const ownFailureOf = ({ evidence }: Pick<Belief, 'evidence'>): number =>
  evidence.reduce((newest, { finishedAt }) => Math.max(newest, finishedAt), 0);

/** A broken test is active until it passes; a healthy one is not. */
export const isActive = ({ health, ownFailureAt }: { health: Health; ownFailureAt: number }, now: number): boolean =>
  health === 'broken' || (health === 'flaky' && ownFailureAt >= activeSince(now));
