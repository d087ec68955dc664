/** Looks tests up in PostgreSQL: their names, first failures and identities. Look-ups at the same time share a statement. */
import type { Clock } from '../clock.ts';
import { windowUpTo } from '../domain/ratio-window.ts';
import { type HttpProblem, notFound } from '../http/problems.ts';
import type { Database } from '../postgres/client.ts';
import { type KnownTest, readKnownTests } from '../postgres/known-tests.ts';
import type { Repository } from '../postgres/repositories.ts';
import { RepositoryBatches } from './batches.ts';

export const unknownTest = (): HttpProblem =>
  notFound(
    'There is no such test in this repository. Search for it by name: insights know the tests that ran on the default branch.',
  );

export class KnownTests {
  readonly #batches: RepositoryBatches<string, KnownTest>;

  constructor(db: Database, clock: Clock) {
    this.#batches = RepositoryBatches.byKey((id, testIds) => readKnownTests(db, id, testIds, windowUpTo(clock.now())));
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
}

/** The latest of several moments; null if there is none. */
export const latest = (moments: readonly (number | null)[]): number | null =>
  moments.reduce((newest, at) => (at !== null && (newest === null || at > newest) ? at : newest), null);
