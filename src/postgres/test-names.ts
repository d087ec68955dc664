/** The accepted renames of repositories (src/domain/rename-decisions.ts): from memory for who stores results and looks tests up. */
import { and, eq, inArray } from 'drizzle-orm';
import { testIdOf } from '../domain/identity.ts';
import { TestNames } from '../domain/rename-decisions.ts';
import { TtlCache } from '../ttl-cache.ts';
import { type Database, type Executor, onPostgres } from './client.ts';
import { testRenames, tests } from './schema.ts';

/** How long a name may still be stored under the test it was of before: what arrives by then is moved later. */
const NAMES_CACHE_MS = 1_000;
const CACHE_ENTRIES_MAX = 10_000;

export async function readTestNames(tx: Executor, repositoryId: string): Promise<TestNames> {
  const accepted = await tx
    .select({
      fromId: testRenames.fromId,
      toId: testRenames.toId,
      toName: testRenames.toName,
      firstMs: testRenames.firstMs,
    })
    .from(testRenames)
    .where(and(eq(testRenames.repositoryId, repositoryId), eq(testRenames.state, 'accepted')));
  return new TestNames(accepted);
}

/** The id of the test that has a name, or had it before it was renamed. */
export async function testIdNamed(tx: Executor, repositoryId: string, name: string): Promise<string> {
  return (await readTestNames(tx, repositoryId)).testOf(testIdOf(repositoryId, name));
}

/** By repository id, then by test id: the names of tests whose executions may have several. */
export async function namesOfRenamed(
  tx: Executor,
  repositoryIds: readonly string[],
): Promise<ReadonlyMap<string, ReadonlyMap<string, string>>> {
  const rows = await tx
    .selectDistinct({ repositoryId: tests.repositoryId, testId: tests.testId, name: tests.name })
    .from(testRenames)
    .innerJoin(tests, and(eq(tests.repositoryId, testRenames.repositoryId), eq(tests.testId, testRenames.fromId)))
    .where(and(inArray(testRenames.repositoryId, [...repositoryIds]), eq(testRenames.state, 'accepted')));
  const found = new Map<string, Map<string, string>>();
  for (const { repositoryId, testId, name } of rows)
    found.set(repositoryId, (found.get(repositoryId) ?? new Map()).set(testId, name));
  return found;
}

/** Keeps the names of all repositories, as of a second ago. */
export class TestNamesStore {
  readonly #cache = new TtlCache<TestNames>(NAMES_CACHE_MS, CACHE_ENTRIES_MAX);

  constructor(private readonly db: Database) {}

  of(repositoryId: string): Promise<TestNames> {
    return this.#cache.get(repositoryId, () => onPostgres(() => readTestNames(this.db, repositoryId)));
  }
}
