/**
 * The state of tests in PostgreSQL, as the evaluation reads and writes it: names, first failures, summaries, folds with
 * their checkpoints, and failure groups. Everything happens in the transaction that marks the blocks as counted, under
 * the evaluation lock of the repository.
 */
import { addFailures, type FailureGroup, withoutGroupMonth } from '../domain/failure-group.ts';
import { addExecutions, emptySummary, RATIO_DAYS, withoutMonth } from '../domain/test-state.ts';
import type { Executor } from '../postgres/client.ts';
import {
  type FailureGroupRecord,
  forgetFailureGroups,
  readFailureGroups,
  writeFailureGroups,
} from '../postgres/failure-groups.ts';
import { advanceCheckpoints, readCheckpoints, writeCheckpoints } from '../postgres/health-checkpoints.ts';
import {
  type FirstFailure,
  forgetIdentities,
  type IdentityRecord,
  readIdentities,
  readTests,
  type TestState,
  writeIdentities,
  writeTests,
} from '../postgres/test-states.ts';
import type { DerivedState } from './derived-state.ts';
import { beginning, foldSchema, writeFold } from './fold.ts';
import type { CheckpointStore, KnownFold } from './health.ts';
import { placeOf, type TestNews, type TouchedTest } from './news.ts';
import { identityKey } from './store.ts';

/** What is known of some tests before an evaluation. */
export interface TestStates {
  tests: ReadonlyMap<string, TestState>;
  identities: readonly IdentityRecord[];
  folds: readonly KnownFold[];
}

/** What an evaluation found. */
export interface StateChanges {
  tests: ReadonlyMap<string, TouchedTest>;
  /** The folds that changed. */
  folds: readonly KnownFold[];
  /** Flaky executions by UTC day, of the tests for which they changed. */
  flakyDays: ReadonlyMap<string, ReadonlyMap<number, number>>;
}

export class StateStore implements CheckpointStore {
  constructor(
    private readonly tx: Executor,
    private readonly repositoryId: string,
  ) {}

  async readStates(testIds: readonly string[]): Promise<TestStates> {
    const tests = await readTests(this.tx, this.repositoryId, testIds);
    const identities = await readIdentities(this.tx, this.repositoryId, testIds);
    return {
      tests: new Map(tests.map((test) => [test.testId, test])),
      identities,
      folds: identities.map(({ testId, pipelineName, jobName, fold, checkpointAt }) => ({
        testId,
        pipelineName,
        jobName,
        end: foldSchema.parse(fold),
        checkpointAt,
      })),
    };
  }

  async writeStates(known: TestStates, changes: StateChanges): Promise<void> {
    await writeTests(this.tx, this.repositoryId, changedTests(known, changes));
    const nameOf = (testId: string): string =>
      known.tests.get(testId)?.name || (changes.tests.get(testId)?.news?.name ?? '');
    await writeIdentities(this.tx, this.repositoryId, changedIdentities(known, changes), nameOf);
    const failures = [...changes.tests].flatMap(([testId, { news }]) =>
      (news?.failures ?? []).map((failure) => ({ ...failure, testId })),
    );
    if (failures.length === 0) return;
    const grouped = Map.groupBy(failures, ({ testId, failureId }) => `${testId}/${failureId}`);
    const groups = await readFailureGroups(this.tx, this.repositoryId, [...new Set(failures.map((one) => one.testId))]);
    const before = new Map<string, FailureGroup>(
      groups.map(({ testId, failureId, ...group }) => [`${testId}/${failureId}`, group]),
    );
    await writeFailureGroups(
      this.tx,
      this.repositoryId,
      [...grouped].flatMap(([key, of]) => {
        const [first] = of;
        return first ? [{ testId: first.testId, failureId: first.failureId, ...addFailures(before.get(key), of) }] : [];
      }),
    );
  }

  /** Replaces everything that is known of some tests. Baselines of identities that nothing is derived for stay. */
  async replace(
    testIds: readonly string[],
    derived: readonly DerivedState[],
    groups: readonly FailureGroupRecord[],
  ): Promise<void> {
    const names = new Map(derived.map(({ test }) => [test.testId, test.name]));
    await forgetIdentities(this.tx, this.repositoryId, testIds);
    await forgetFailureGroups(this.tx, this.repositoryId, testIds);
    await writeTests(
      this.tx,
      this.repositoryId,
      derived.map(({ test }) => test),
    );
    await writeIdentities(
      this.tx,
      this.repositoryId,
      derived.flatMap(({ identities }) => identities),
      (testId) => names.get(testId) ?? '',
    );
    await this.write(derived.flatMap(({ checkpoints }) => checkpoints));
    await writeFailureGroups(this.tx, this.repositoryId, groups);
  }

  /** Takes a month that leaves, and every month before it, out of the summaries and groups of some tests. */
  async forgetMonth(testIds: readonly string[], month: number): Promise<void> {
    const { tests, identities } = await this.readStates(testIds);
    await writeIdentities(
      this.tx,
      this.repositoryId,
      identities.map((record) => ({ ...record, summary: withoutMonth(record.summary, month) })),
      (testId) => tests.get(testId)?.name ?? '',
    );
    const groups = await readFailureGroups(this.tx, this.repositoryId, testIds);
    await forgetFailureGroups(this.tx, this.repositoryId, testIds);
    await writeFailureGroups(
      this.tx,
      this.repositoryId,
      groups.flatMap((group) => {
        const kept = withoutGroupMonth(group, month);
        return kept ? [{ ...group, ...kept }] : [];
      }),
    );
  }

  readGroups(testIds: readonly string[]): Promise<FailureGroupRecord[]> {
    return readFailureGroups(this.tx, this.repositoryId, testIds);
  }

  async read(testIds: readonly string[]) {
    const rows = await readCheckpoints(this.tx, this.repositoryId, testIds);
    return rows.map(({ baseline, older, newer, ...identity }) => ({
      ...identity,
      baseline: foldSchema.parse(baseline),
      older: foldSchema.parse(older),
      newer: foldSchema.parse(newer),
    }));
  }

  async write(rows: Parameters<CheckpointStore['write']>[0]): Promise<void> {
    const stored = rows.map((row) => ({
      ...row,
      baseline: writeFold(row.baseline),
      older: writeFold(row.older),
      newer: writeFold(row.newer),
    }));
    await writeCheckpoints(this.tx, this.repositoryId, stored);
  }

  async advance(rows: Parameters<CheckpointStore['advance']>[0]): Promise<void> {
    const stored = rows.map((row) => ({ ...row, newer: writeFold(row.newer) }));
    await advanceCheckpoints(this.tx, this.repositoryId, stored);
  }
}

/** New tests, and those whose first failure or flaky days changed. */
function changedTests(known: TestStates, { tests, flakyDays }: StateChanges): TestState[] {
  return [...tests].flatMap(([testId, { news }]) => {
    const before = known.tests.get(testId);
    // Only the first failure of a test may be left of it: then its name is empty until it runs again.
    const name = before?.name || news?.name;
    if (name === undefined) return [];
    const firstFailure = earliest(before?.firstFailure ?? null, news);
    const days = flakyDays.get(testId);
    if (before?.name && firstFailure === before.firstFailure && !days) return [];
    const flaky = days ? [...days].sort(([one], [other]) => one - other) : (before?.flakyDays ?? []);
    return [{ testId, name, firstFailure, flakyDays: flaky.slice(-RATIO_DAYS) }];
  });
}

function earliest(known: FirstFailure | null, news: TestNews | undefined): FirstFailure | null {
  let first = known;
  for (const { executions } of news?.identities.values() ?? [])
    for (const { status, finishedAt: failedAt, executionId, commit } of executions)
      if (status === 'failed' && isEarlier({ failedAt, executionId }, first)) first = { failedAt, executionId, commit };
  return first;
}

const isEarlier = (one: Omit<FirstFailure, 'commit'>, first: FirstFailure | null): boolean =>
  first === null ||
  one.failedAt < first.failedAt ||
  (one.failedAt === first.failedAt && one.executionId < first.executionId);

/** Identities with new executions, and those whose fold changed. */
function changedIdentities(known: TestStates, { tests, folds }: StateChanges): IdentityRecord[] {
  const before = new Map(known.identities.map((record) => [identityKey(keyOf(record)), record]));
  const after = new Map(folds.map((fold) => [identityKey(keyOf(fold)), fold]));
  const changed: IdentityRecord[] = [];
  const add = (identity: { testId: string; pipelineName: string; jobName: string }, news: TestNews | undefined) => {
    const key = identityKey(identity);
    const record = before.get(key);
    const executions = news?.identities.get(placeOf(identity))?.executions ?? [];
    const fold = after.get(key);
    after.delete(key);
    const end = fold?.end ?? (record ? undefined : beginning());
    changed.push({
      ...identity,
      summary:
        executions.length === 0 && record ? record.summary : addExecutions(record?.summary ?? emptySummary, executions),
      health: end?.state.health ?? record?.health ?? 'healthy',
      fold: end ? writeFold(end) : (record?.fold ?? ''),
      checkpointAt: fold?.checkpointAt ?? record?.checkpointAt ?? 0,
    });
  };
  for (const [testId, { news }] of tests)
    for (const { pipelineName, jobName } of news?.identities.values() ?? [])
      add({ testId, pipelineName, jobName }, news);
  for (const fold of [...after.values()]) add(keyOf(fold), undefined);
  return changed;
}

const keyOf = ({ testId, pipelineName, jobName }: { testId: string; pipelineName: string; jobName: string }) => ({
  testId,
  pipelineName,
  jobName,
});
