/** Lists tests by how often they ran, which large passes have left for later (src/postgres/listings.ts). */
import { type Database, onPostgres } from '../postgres/client.ts';
import { forgetNotes, type LateTests, listNow, nextLate } from '../postgres/listings.ts';
import { lockEvaluation } from './lock.ts';

/** The repository is not evaluated meanwhile: some 50 ms. */
const TESTS_AT_ONCE = 200;
/** Tests that the notes name which are read together. With fewer, a repository of many tests is listed several times. */
const NAMED_AT_ONCE = 200_000;

/** Each step lists some tests. Steps go in the order of repositories, so they end, however many become late meanwhile. */
export async function* lateListingSteps(db: Database): AsyncGenerator<void> {
  let late: LateTests | undefined;
  for (;;) {
    yield;
    late = await nextLate(db, late, NAMED_AT_ONCE);
    if (!late) return;
    for (let from = 0; from < late.testIds.length; from += TESTS_AT_ONCE) {
      yield;
      await list(db, late.repositoryId, late.testIds.slice(from, from + TESTS_AT_ONCE));
    }
    await forgetNotes(db, late);
  }
}

function list(db: Database, repositoryId: string, testIds: readonly string[]): Promise<void> {
  return onPostgres(() =>
    db.transaction(async (tx) => {
      await lockEvaluation(tx, repositoryId);
      await listNow(tx, repositoryId, testIds);
    }),
  );
}
