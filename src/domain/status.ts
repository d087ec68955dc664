/** How an execution ended. */
export const STATUSES = ['passed', 'failed', 'skipped'] as const;
export type Status = (typeof STATUSES)[number];

/** How far an upload has come. `refused`: it was not taken in, as the answer to it said. */
export const UPLOAD_STATUSES = ['queued', 'stored', 'failed', 'refused'] as const;
export type UploadStatus = (typeof UPLOAD_STATUSES)[number];

/** How a test does on the default branch, from best to worst. */
export const HEALTHS = ['healthy', 'flaky', 'broken'] as const;
export type Health = (typeof HEALTHS)[number];

/** The worst of several; healthy if there are none. */
export function worstHealth(healths: Iterable<Health>): Health {
  let worst = 0;
  for (const health of healths) worst = Math.max(worst, HEALTHS.indexOf(health));
  return HEALTHS[worst] ?? 'healthy';
}
