/** What PostgreSQL knows of tests: their names, first failures and identities. Look-ups at the same time share a statement. */
import { executionsOf } from '../domain/test-state.ts';
import { type Database, onPostgres } from '../postgres/client.ts';
import type { Repository } from '../postgres/repositories.ts';
import { readIdentities, readTests, type ShownIdentity, type TestState } from '../postgres/test-states.ts';
import { RepositoryBatches } from './batches.ts';
import { unknownTest } from './common.ts';

export interface KnownTest extends TestState {
  /** Those with retained executions; at least one. */
  identities: ShownIdentity[];
}

export class KnownTests {
  readonly #batches: RepositoryBatches<string, KnownTest>;

  constructor(private readonly db: Database) {
    this.#batches = RepositoryBatches.byKey((id, testIds) => this.#load(id, testIds));
  }

  /** Undefined for a test without retained executions on the default branch. */
  find(repository: Repository, testId: string): Promise<KnownTest | undefined> {
    return this.#batches.get(repository, testId);
  }

  /** Throws 404 for a test without retained executions on the default branch. */
  async get(repository: Repository, testId: string): Promise<KnownTest> {
    const found = await this.find(repository, testId);
    if (!found) throw unknownTest();
    return found;
  }

  async #load(repositoryId: string, testIds: string[]): Promise<Map<string, KnownTest>> {
    const [tests, identities] = await onPostgres(() =>
      Promise.all([readTests(this.db, repositoryId, testIds), readIdentities(this.db, repositoryId, testIds)]),
    );
    const byTest = Map.groupBy(
      identities.filter(({ summary }) => executionsOf(summary) > 0),
      ({ testId }) => testId,
    );
    return new Map(
      tests.flatMap((test) => {
        const of = byTest.get(test.testId);
        return of ? [[test.testId, { ...test, identities: of }]] : [];
      }),
    );
  }
}

/** The latest of several moments; null if there is none. */
export const latest = (moments: readonly (number | null)[]): number | null =>
  moments.reduce((newest, at) => (at !== null && (newest === null || at > newest) ? at : newest), null);
