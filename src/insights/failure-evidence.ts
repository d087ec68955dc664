/**
 * Looks up the evidence about failures of a commit: the groups that the default branch has shown, when the
 * health of tests changed there, open quarantines, and the files that the commit changed.
 * Look-ups at the same time share a statement.
 */
import type { Clock } from '../clock.ts';
import type { CommitRun } from '../commits/commit-record.ts';
import type { NearnessFactors } from '../domain/nearness.ts';
import { type ChangedFiles, readChangedFiles } from '../postgres/changed-files.ts';
import { type Database, onPostgres } from '../postgres/client.ts';
import { type FailureGroupRecord, findFailureGroups } from '../postgres/failure-groups.ts';
import { readHealthSteps, type StoredStep } from '../postgres/health-steps.ts';
import type { Quarantine } from '../postgres/quarantine-records.ts';
import type { QuarantineStore } from '../postgres/quarantines.ts';
import type { Repository } from '../postgres/repositories.ts';
import { RepositoryBatches } from './batches.ts';
import { NearnessOfRepositories } from './nearness-of-repository.ts';

/** A failure group of a test. */
export interface GroupName {
  testId: string;
  failureId: string;
}

export const groupKey = ({ testId, failureId }: GroupName): string => `${testId}/${failureId}`;

export class FailureEvidence {
  readonly #groups: RepositoryBatches<GroupName, FailureGroupRecord>;
  readonly #quarantines: RepositoryBatches<string, Quarantine[]>;
  readonly #steps: RepositoryBatches<string, StoredStep[]>;
  readonly #changedFiles: RepositoryBatches<string, ChangedFiles>;
  readonly #nearness: NearnessOfRepositories;

  constructor({ db, quarantines, clock }: { db: Database; quarantines: QuarantineStore; clock: Clock }) {
    this.#nearness = new NearnessOfRepositories({ db, clock });
    this.#groups = new RepositoryBatches(({ id }) => async (take) => {
      const asked = take();
      const distinct = new Map(asked.map((one) => [groupKey(one), one]));
      const found = await onPostgres(() => findFailureGroups(db, id, [...distinct.values()]));
      const byKey = new Map(found.map((group) => [groupKey(group), group]));
      return asked.map((one) => byKey.get(groupKey(one)));
    });
    this.#quarantines = RepositoryBatches.byKey(async (id, testIds) =>
      Map.groupBy(await quarantines.ofTests(id, testIds), ({ testId }) => testId),
    );
    this.#steps = RepositoryBatches.byKey((id, testIds) => onPostgres(() => readHealthSteps(db, id, testIds)));
    this.#changedFiles = RepositoryBatches.byKey((id, commits) => onPostgres(() => readChangedFiles(db, id, commits)));
  }

  /** Groups, of those asked, that the default branch has shown, by {@link groupKey}. */
  async groupsOf(repository: Repository, asked: readonly GroupName[]): Promise<Map<string, FailureGroupRecord>> {
    const distinct = new Map(asked.map((one) => [groupKey(one), one]));
    const found = await Promise.all([...distinct.values()].map((one) => this.#groups.get(repository, one)));
    return new Map(found.flatMap((group) => (group ? [[groupKey(group), group]] : [])));
  }

  /** The open quarantines of some tests, by test. */
  async quarantinesOf(repository: Repository, testIds: readonly string[]): Promise<Map<string, Quarantine[]>> {
    const found = await Promise.all(testIds.map((testId) => this.#quarantines.get(repository, testId)));
    return new Map(testIds.flatMap((testId, i) => (found[i] ? [[testId, found[i]]] : [])));
  }

  /** When the health of some tests changed, by test; nothing of those whose health never did. */
  async stepsOf(repository: Repository, testIds: readonly string[]): Promise<Map<string, StoredStep[]>> {
    const found = await Promise.all(testIds.map((testId) => this.#steps.get(repository, testId)));
    return new Map(testIds.flatMap((testId, i) => (found[i] ? [[testId, found[i]]] : [])));
  }

  /** What nearness to changed files says in a repository. */
  nearnessFactorsOf({ id }: Repository): Promise<NearnessFactors> {
    return this.#nearness.factorsOf(id);
  }

  /** The files that a commit changed; none if no job has sent them, or none that may speak for all of its runs. */
  async changedFilesOf(
    repository: Repository,
    runs: readonly Pick<CommitRun, 'on_default'>[],
    commit: string,
  ): Promise<readonly string[]> {
    const found = await this.#changedFiles.get(repository, commit);
    return !found || (found.isConfined && runs.some(({ on_default }) => on_default)) ? [] : found.paths;
  }
}
