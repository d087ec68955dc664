/**
 * Events about results that differ from what is stored under the same names: legs of a matrix that share a name, or a
 * report that someone sent under the name of another. Both are stored; the event tells who reads the log.
 */
import { newEvent } from '../domain/events.ts';
import type { Executor } from '../postgres/client.ts';
import { recordKeyedEvents } from '../postgres/outbox.ts';
import type { PreparedChunk } from './prepare.ts';

/** Whose deed it is when the producer does not say who sends. */
const UNKNOWN_SENDER = 'an upload';

/**
 * One event for a run, however many of its reports differ. Repositories are locked until the commit, in ascending order:
 * no deadlock between blocks.
 */
export async function recordConflicts(tx: Executor, chunks: readonly PreparedChunk[], now: number): Promise<void> {
  if (chunks.length === 0) return;
  const byRepository = [...Map.groupBy(chunks, ({ repositoryId }) => repositoryId)];
  for (const [repositoryId, own] of byRepository.sort(([one], [other]) => (one < other ? -1 : 1)))
    await recordKeyedEvents(tx, repositoryId, own.map(conflictOf), now);
}

function conflictOf({ run, origin, uploadId, format, sender }: PreparedChunk) {
  const { pipeline_name, job_name, run_id, run_attempt, commit } = run;
  const { branch, baseRef, pullRequest } = origin;
  return {
    key: `conflict ${JSON.stringify([pipeline_name, job_name, run_id, run_attempt, commit, branch, baseRef, pullRequest])}`,
    event: newEvent(
      'ci_insights.results.conflict',
      { pipeline_name, job_name, run_id, run_attempt, commit, branch: branch || null, format, upload_id: uploadId },
      { trigger: sender ?? UNKNOWN_SENDER, pullRequest: pullRequest || null, baseRef: baseRef || null },
    ),
  };
}
