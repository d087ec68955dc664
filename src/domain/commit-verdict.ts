/**
 * Says what a failed test means for its commit: is the commit the cause, or something that was there before?
 * Pure. Whatever is not explained by what the default branch was when it failed, or by trouble, counts as new, so a doubt
 * never excuses a failure.
 */
import type { Health } from './status.ts';

/**
 * - `new`: a failure group of the test that the default branch had not shown before it failed on this commit, or one that
 *   it showed, but the test was healthy there: a fault that was fixed has come back.
 * - `broken`, `known_flaky`: the default branch had failed in the same way before, and the test was broken or flaky there.
 * - `quarantined`: a quarantine covers the failure.
 * - `infrastructure`: it passed on the default branch, and trouble is the likelier cause: so much failed in the run at once,
 *   or the same failed for others at the time, or nothing of it when the job ran again.
 *
 * In the order in which a list shows them: what needs attention comes first.
 */
export const COMMIT_VERDICTS = ['new', 'broken', 'known_flaky', 'infrastructure', 'quarantined'] as const;
export type CommitVerdict = (typeof COMMIT_VERDICTS)[number];

/** A test that failed on a commit, with what excuses or accuses the commit. */
export interface FailedOnCommit {
  /** A quarantine covers the failure. */
  isQuarantined: boolean;
  /** Trouble explains each of its failures. */
  isTroubled: boolean;
  /** In retained runs of the default branch. What has never passed may fail in any run. */
  hasPassedOnDefault: boolean;
  /**
   * For each failure group of the test on this commit: when it first appeared here, and first on the default branch (null:
   * never). Milliseconds since the epoch.
   */
  groups: readonly { firstHereAt: number; firstOnDefaultAt: number | null }[];
  /** On the default branch when it failed (health-at.ts); null for a test that never ran there. */
  health: Health | null;
}

export function commitVerdict({
  isQuarantined,
  isTroubled,
  hasPassedOnDefault,
  groups,
  health,
}: FailedOnCommit): CommitVerdict {
  if (isQuarantined) return 'quarantined';
  const isNew = groups.length === 0 || groups.some(isNewGroup);
  // A failure that the default branch shows in the same way is its fault, whatever else fails in the run.
  if (health === 'broken' && !isNew) return 'broken';
  if (isTroubled && hasPassedOnDefault) return 'infrastructure';
  if (isNew) return 'new';
  return health === 'flaky' ? 'known_flaky' : 'new';
}

/**
 * Whether a group had not been seen on the default branch before it appeared on the commit. What the default branch showed
 * later, perhaps because the commit was merged, does not count; nor does the commit's own failure on the default branch.
 */
export const isNewGroup = ({ firstHereAt, firstOnDefaultAt }: FailedOnCommit['groups'][number]): boolean =>
  firstOnDefaultAt === null || firstOnDefaultAt >= firstHereAt;

/** In a run off the default branch, this many healthy tests must fail, and this share of it. */
const OUTAGE_TESTS_MIN = 10;
const OUTAGE_SHARE_MIN = 0.9;

/** A run off the default branch. */
export interface FailedRun {
  /** Executions. */
  passed: number;
  /** Failed executions of tests that are healthy on the default branch, and of how many such tests. */
  failedHealthy: number;
  healthyTests: number;
}

/**
 * Whether a run off the default branch is troubled, from what failed in it alone. Only if nearly everything failed in it that is
 * healthy on the default branch: a change may well break a third of the tests, which on the default branch would be trouble.
 * Other runs may tell more (trouble-elsewhere.ts).
 */
export const isTroubledOffDefault = ({ passed, failedHealthy, healthyTests }: FailedRun): boolean =>
  healthyTests >= OUTAGE_TESTS_MIN && failedHealthy >= OUTAGE_SHARE_MIN * (failedHealthy + passed);
