/**
 * The state of tests in PostgreSQL, as the evaluation reads and writes it: names, first failures, summaries, folds with
 * their checkpoints, and failure groups. Everything happens in the transaction that marks the blocks as counted, under
 * the evaluation lock of the repository.
 */

import { comparePositions } from '../domain/execution.ts';
import { mergeGroups, withoutGroupMonth } from '../domain/failure-group.ts';
import { emptySummary, type IdentitySummary, mergeSummaries, RATIO_DAYS, withoutMonth } from '../domain/test-state.ts';
import type { Executor } from '../postgres/client.ts';
import {
  type FailureGroupRecord,
  forgetFailureGroups,
  readFailureGroups,
  writeFailureGroups,
} from '../postgres/failure-groups.ts';
import {
  forgetHealthChanges,
  type HealthChangeRecord,
  readHealthChanges,
  writeHealthChanges,
} from '../postgres/health-changes.ts';
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
import { beginning, type Fold, foldSchema, writeFold } from './fold.ts';
import type { ChangedFold, CheckpointStore, KnownFold } from './health.ts';
import { conclusiveOf, placeOf, type TestNews } from './news.ts';
import { type Identity, identityKey } from './store.ts';
import type { TouchedTest } from './touched.ts';

/** What is known of a test before an evaluation. */
export interface KnownTest {
  /** Undefined until it has run. */
  test: TestState | undefined;
  records: readonly IdentityRecord[];
  /** Of the records. */
  folds: readonly KnownFold[];
}

export const UNKNOWN: KnownTest = { test: undefined, records: [], folds: [] };

/** A test that changes, with what is known of it. */
export interface TestInHand extends TouchedTest {
  known: KnownTest;
}

/** What an evaluation found. */
export interface StateChanges {
  /** Those that changed. */
  folds: ReadonlyMap<string, readonly ChangedFold[]>;
  /** Flaky executions by UTC day, of the tests for which they changed. */
  flakyDays: ReadonlyMap<string, ReadonlyMap<number, number>>;
}

export class StateStore implements CheckpointStore {
  constructor(
    private readonly tx: Executor,
    private readonly repositoryId: string,
  ) {}

  /** By test id; nothing of tests that have not run. */
  async readStates(testIds: readonly string[]): Promise<Map<string, KnownTest>> {
    const known = new Map<string, { test: TestState | undefined; records: IdentityRecord[]; folds: KnownFold[] }>();
    for (const test of await readTests(this.tx, this.repositoryId, testIds))
      known.set(test.testId, { test, records: [], folds: [] });
    for (const record of await readIdentities(this.tx, this.repositoryId, testIds)) {
      const { testId, pipelineName, jobName, fold, checkpointAt } = record;
      const of = known.get(testId) ?? { test: undefined, records: [], folds: [] };
      known.set(testId, of);
      of.records.push(record);
      of.folds.push({ testId, pipelineName, jobName, end: foldSchema.parse(fold), checkpointAt });
    }
    return known;
  }

  async writeStates(tests: ReadonlyMap<string, TestInHand>, changes: StateChanges): Promise<void> {
    await writeTests(this.tx, this.repositoryId, changedTests(tests, changes));
    const nameOf = (testId: string): string => {
      const { known, news } = tests.get(testId) ?? {};
      return known?.test?.name || (news?.name ?? '');
    };
    await writeIdentities(this.tx, this.repositoryId, changedIdentities(tests, changes), nameOf);
    await this.#writeChanges([...changes.folds.values()].flat());
    await this.#addFailures(tests);
  }

  /** There are few: nearly every execution leaves the health as it was. */
  async #writeChanges(folds: readonly ChangedFold[]): Promise<void> {
    const restarts = folds.flatMap(({ restartedAt, ...fold }) => (restartedAt ? [{ ...fold, restartedAt }] : []));
    await this.#forgetChanges(restarts);
    const changes = folds.flatMap(({ testId, pipelineName, jobName, changes: of }) =>
      of.map((change) => ({ testId, pipelineName, jobName, ...change })),
    );
    await writeHealthChanges(this.tx, this.repositoryId, changes);
  }

  /** Those after the place from which a fold started over. */
  async #forgetChanges(restarts: readonly (Identity & { restartedAt: Fold })[]): Promise<void> {
    if (restarts.length === 0) return;
    const starts = new Map(restarts.map((fold) => [identityKey(identityOf(fold)), fold.restartedAt]));
    const known = await this.readChanges([...new Set(restarts.map(({ testId }) => testId))]);
    const outdated = known.filter((change) => {
      const start = starts.get(identityKey(identityOf(change)));
      return start && (start.at === null || comparePositions(change.at, start.at) > 0);
    });
    await forgetHealthChanges(this.tx, this.repositoryId, outdated);
  }

  /** Of health, in order. */
  readChanges(testIds: readonly string[]): Promise<HealthChangeRecord[]> {
    return readHealthChanges(this.tx, this.repositoryId, testIds);
  }

  async #addFailures(tests: ReadonlyMap<string, TestInHand>): Promise<void> {
    const failed = [...tests].filter(([, { news }]) => news && news.failures.size > 0);
    if (failed.length === 0) return;
    const known = await this.readGroups(failed.map(([testId]) => testId));
    const before = new Map(known.map((group) => [`${group.testId}/${group.failureId}`, group]));
    const groups = failed.flatMap(([testId, { news }]) =>
      [...(news?.failures ?? [])].map(([failureId, added]) => ({
        testId,
        failureId,
        ...mergeGroups(before.get(`${testId}/${failureId}`), added),
      })),
    );
    await writeFailureGroups(this.tx, this.repositoryId, groups);
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
    const checkpoints = derived.flatMap((state) => state.checkpoints);
    await this.write(checkpoints);
    await this.#forgetChanges(checkpoints.map((one) => ({ ...one, restartedAt: one.baseline })));
    await writeHealthChanges(
      this.tx,
      this.repositoryId,
      derived.flatMap(({ changes }) => changes),
    );
    await writeFailureGroups(this.tx, this.repositoryId, groups);
  }

  /** Takes a month that leaves, and every month before it, out of the summaries and groups of some tests. */
  async forgetMonth(testIds: readonly string[], month: number): Promise<void> {
    const known = await this.readStates(testIds);
    await writeIdentities(
      this.tx,
      this.repositoryId,
      [...known.values()].flatMap(({ records }) =>
        records.map((record) => ({ ...record, summary: withoutMonth(record.summary, month) })),
      ),
      (testId) => known.get(testId)?.test?.name ?? '',
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
function changedTests(tests: ReadonlyMap<string, TestInHand>, { flakyDays }: StateChanges): TestState[] {
  return [...tests].flatMap(
    ([
      testId,
      {
        news,
        known: { test: before },
      },
    ]) => {
      // Only the first failure of a test may be left of it: then its name is empty until it runs again.
      const name = before?.name || news?.name;
      if (name === undefined) return [];
      const firstFailure = earliest(before?.firstFailure ?? null, news);
      const days = flakyDays.get(testId);
      if (before?.name && firstFailure === before.firstFailure && !days) return [];
      const flaky = days ? [...days].sort(([one], [other]) => one - other) : (before?.flakyDays ?? []);
      return [{ testId, name, firstFailure, flakyDays: flaky.slice(-RATIO_DAYS) }];
    },
  );
}

function earliest(known: FirstFailure | null, news: TestNews | undefined): FirstFailure | null {
  let first = known;
  for (const { status, finishedAt: failedAt, executionId, commit } of news?.hasTrouble ? conclusiveOf(news) : [])
    if (status === 'failed' && isEarlier({ failedAt, executionId }, first)) first = { failedAt, executionId, commit };
  return first;
}

const isEarlier = (one: Omit<FirstFailure, 'commit'>, first: FirstFailure | null): boolean =>
  first === null ||
  one.failedAt < first.failedAt ||
  (one.failedAt === first.failedAt && one.executionId < first.executionId);

/** Identities with new executions, and those whose fold changed. */
function changedIdentities(tests: ReadonlyMap<string, TestInHand>, { folds }: StateChanges): IdentityRecord[] {
  const changed: IdentityRecord[] = [];
  for (const [testId, { news, known }] of tests) {
    const records = new Map(known.records.map((record) => [placeOf(record), record]));
    const after = new Map(folds.get(testId)?.map((fold) => [placeOf(fold), fold]));
    for (const identity of news?.identities ?? []) {
      const place = placeOf(identity);
      changed.push(changedIdentity(testId, identity, records.get(place), after.get(place), identity.summary()));
      after.delete(place);
    }
    for (const [place, fold] of after)
      changed.push(changedIdentity(testId, fold, records.get(place), fold, emptySummary));
  }
  return changed;
}

function changedIdentity(
  testId: string,
  { pipelineName, jobName }: Omit<Identity, 'testId'>,
  record: IdentityRecord | undefined,
  fold: KnownFold | undefined,
  added: IdentitySummary,
): IdentityRecord {
  const end = fold?.end ?? (record ? undefined : beginning());
  return {
    testId,
    pipelineName,
    jobName,
    summary: record ? mergeSummaries(record.summary, added) : added,
    health: end?.state.health ?? record?.health ?? 'healthy',
    fold: end ? writeFold(end) : (record?.fold ?? ''),
    checkpointAt: fold?.checkpointAt ?? record?.checkpointAt ?? 0,
  };
}

const identityOf = ({ testId, pipelineName, jobName }: Identity): Identity => ({ testId, pipelineName, jobName });
