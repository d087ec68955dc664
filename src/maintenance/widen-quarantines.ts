/** Quarantines of failure groups follow the failures that moved to other groups. */
import { QUARANTINE_FAILURES_MAX } from '../domain/limits.ts';
import { orderedFailureIds } from '../domain/quarantine-scope.ts';
import type { TestGroup } from '../evaluation/all-tests.ts';
import type { Database } from '../postgres/client.ts';
import { movesOf } from '../postgres/former-groups.ts';
import type { QuarantineStore } from '../postgres/quarantines.ts';

/**
 * A quarantine of a former group covers the groups that have its failures now. The former one stays in it.
 *
 * @param name who did it, in the trail
 */
export async function widenQuarantines(
  { quarantines, postgres: { db } }: { quarantines: QuarantineStore; postgres: { db: Database } },
  { repositoryId, testIds }: TestGroup,
  name: string,
): Promise<void> {
  const open = (await quarantines.ofTests(repositoryId, testIds)).filter(
    // Quarantines of a cause follow the cause.
    ({ failureIds, causeId }) => failureIds !== null && causeId === null,
  );
  if (open.length === 0) return;
  const moves = await movesOf(db, repositoryId, testIds);
  for (const { id, testId, failureIds } of open) {
    const moved = (moves.get(testId) ?? []).filter(({ failureId }) => failureIds?.includes(failureId));
    const wanted = orderedFailureIds([...(failureIds ?? []), ...moved.map(({ movedTo }) => movedTo)]);
    if (wanted.length === failureIds?.length || wanted.length > QUARANTINE_FAILURES_MAX) continue;
    // If another quarantine covers exactly these groups already, this one is not needed for them.
    await quarantines.update(repositoryId, id, { failureIds: wanted }, { name, actor: null });
  }
}
