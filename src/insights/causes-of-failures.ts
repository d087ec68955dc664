/** Looks the causes of failures on any branch up, by their group or signature. */
import { signatureOf } from '../domain/cause-signature.ts';
import { causesOfGroups, causesOfSignatures } from '../postgres/causes.ts';
import { onPostgres } from '../postgres/client.ts';
import type { Repository } from '../postgres/repositories.ts';
import type { InsightsDeps } from './common.ts';
import { groupKey } from './failure-evidence.ts';

interface ShownFailure {
  testId: string;
  shown: { id: string; type: string; message: string } | undefined;
}

/**
 * The cause of each failure that has one. A group of the default branch knows its own; a failure that only looks like those of
 * other tests is found by its signature, if its message is not cut.
 */
export async function causesOfFailures<F extends ShownFailure>(
  { db }: InsightsDeps,
  { id }: Repository,
  failures: readonly F[],
): Promise<Map<F, string>> {
  const signatures = new Map(
    failures.flatMap((failure) => {
      const { testId, shown } = failure;
      return shown ? [[failure, signatureOf(id, testId, shown.type, shown.message).id] as const] : [];
    }),
  );
  if (signatures.size === 0) return new Map();
  const [groups, bySignature] = await onPostgres(() =>
    Promise.all([
      causesOfGroups(db, id, [...new Set(failures.map(({ testId }) => testId))]),
      causesOfSignatures(db, id, [...new Set(signatures.values())]),
    ]),
  );
  const byGroup = new Map(groups.map((group) => [groupKey(group), group.causeId]));
  return new Map(
    failures.flatMap((failure) => {
      const { testId, shown } = failure;
      if (!shown) return [];
      const cause =
        byGroup.get(groupKey({ testId, failureId: shown.id })) ?? bySignature.get(signatures.get(failure) ?? '');
      return cause === undefined ? [] : [[failure, cause] as const];
    }),
  );
}
