/** What rules of owners would do to the tests of a repository: it only reads. */
import { type OwnersPreview, previewOwners } from '../domain/owner-preview.ts';
import type { OwnerRule } from '../domain/owner-rules.ts';
import { Ownership } from '../domain/test-owners.ts';
import { inSlices } from '../in-slices.ts';
import { abandonable } from './abandonable.ts';
import type { Database } from './client.ts';
import { readOwnershipRules, readRanTests } from './owners.ts';

export async function previewOwnerRules(
  db: Database,
  repositoryId: string,
  rules: readonly OwnerRule[],
): Promise<OwnersPreview> {
  const { said, tests } = await abandonable(db, async (tx) => ({
    said: await readOwnershipRules(tx, repositoryId),
    tests: await readRanTests(tx, repositoryId, undefined),
  }));
  const owners = { before: new Ownership(said), after: new Ownership({ ...said, rules }), count: rules.length };
  return inSlices(previewOwners(tests, owners));
}
