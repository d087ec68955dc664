/**
 * The state of tests in PostgreSQL, as the evaluation reads and writes it: names, first failures, summaries, beliefs with
 * their checkpoints, and failure groups. Everything happens in the transaction that marks the blocks as counted, under
 * the evaluation lock of the repository.
 */
import { shownChanges } from '../domain/belief-course.ts';
import { comparePositions } from '../domain/execution.ts';
import { mergeGroups } from '../domain/failure-group.ts';
import { RepositoryTotals } from '../domain/repository-stats.ts';
import { type StoredBelief, unknownBelief } from '../postgres/belief-text.ts';
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
import {
  advanceCheckpoints,
  type Checkpoints,
  forgetCheckpoints,
  readCheckpoints,
  writeCheckpoints,
} from '../postgres/health-checkpoints.ts';
import { noteLate } from '../postgres/listings.ts';
import { forgetIdentities, writeIdentities, writeLastDays, writeTests } from '../postgres/test-state-writes.ts';
import {
  type IdentityRecord,
  readIdentities,
  readSameIdentities,
  readTests,
  type TestState,
} from '../postgres/test-states.ts';
import { type FindBeginnings, type IdentifiedChange, newRecordsOf, recordsOf } from './beginnings.ts';
import {
  type ChangedIdentity,
  type ChangeOptions,
  changedIdentities,
  changedTests,
  type KnownTest,
  type TestInHand,
} from './changed-states.ts';
import { checkpointsAfter, startsOf } from './checkpoints.ts';
import type { KnownBelief } from './course-starts.ts';
import type { DerivedState } from './derived-state.ts';
import type { JudgedIdentity } from './judge-arrivals.ts';
import { keepTotals, type TotalsToKeep, totalsOfSteady, type WrittenTest } from './keep-totals.ts';
import { placeOf } from './news.ts';
import { type Identity, identityKey } from './store.ts';

export interface WriteOptions extends ChangeOptions {
  findBeginnings: FindBeginnings;
  /** Whether lists learn later how often the tests ran: many are written (src/postgres/listings.ts). */
  isListedLate: boolean;
}

export class StateStore {
  constructor(
    private readonly tx: Executor,
    private readonly repositoryId: string,
  ) {}

  /** By test id; nothing of tests that have not run. */
  async readStates(testIds: readonly string[]): Promise<Map<string, KnownTest>> {
    const tests = await readTests(this.tx, this.repositoryId, testIds);
    return knownTests(tests, await readIdentities(this.tx, this.repositoryId, testIds));
  }

  /** The same, with no other identities than these. */
  async readNamed(testIds: readonly string[], identities: readonly Identity[]): Promise<Map<string, KnownTest>> {
    const records = await readSameIdentities(this.tx, this.repositoryId, identities);
    return knownTests(await readTests(this.tx, this.repositoryId, testIds), records);
  }

  /** By `identityKey`, of every identity of some tests, and of what was believed of others when a month left. */
  async readBeliefs(testIds: readonly string[]): Promise<Map<string, KnownBelief>> {
    const rows = await this.readCheckpoints(testIds);
    const known = new Map<string, KnownBelief>(
      rows.map((row) => [identityKey(row), { ...identityOf(row), stored: undefined, starts: startsOf(row) }]),
    );
    for (const record of await readIdentities(this.tx, this.repositoryId, testIds)) {
      const key = identityKey(record);
      // Without checkpoints, it is too young for one.
      const starts = known.get(key)?.starts ?? [unknownBelief()];
      known.set(key, { ...identityOf(record), stored: record, starts });
    }
    return known;
  }

  /** Returns what is stored of the identities that were written. */
  async writeStates(tests: ReadonlyMap<string, TestInHand>, options: WriteOptions): Promise<readonly IdentityRecord[]> {
    const changed = new Map([...tests].map(([testId, test]) => [testId, changedIdentities(testId, test, options)]));
    const identities = [...changed.values()].flat();
    const outdated = await this.#changesAfter([...tests.values()].flatMap(restartsOf));
    const moved = new Set(outdated.map(({ testId }) => testId));
    const isHealthMoved = (testId: string): boolean =>
      moved.has(testId) || (tests.get(testId)?.judged ?? []).some(({ course }) => course.changes.length > 0);
    const { difference, uncounted } = totalsOfSteady(tests, changed, isHealthMoved);
    const known = Map.groupBy(await this.#identitiesOf(uncounted), ({ testId }) => testId);
    const written = uncounted.map((testId): WrittenTest => {
      const before = known.get(testId) ?? [];
      return {
        testId,
        before,
        after: replaced(before, changed.get(testId) ?? []),
        mayHealthChange: isHealthMoved(testId),
      };
    });
    await keepTotals({ ...this.#totals, difference }, written, () =>
      this.#writeStates(tests, { identities, outdated }, options),
    );
    return identities;
  }

  get #totals(): TotalsToKeep {
    return { tx: this.tx, repositoryId: this.repositoryId, difference: new RepositoryTotals() };
  }

  async #identitiesOf(testIds: readonly string[]): Promise<IdentityRecord[]> {
    return testIds.length === 0 ? [] : readIdentities(this.tx, this.repositoryId, testIds);
  }

  async #writeStates(
    tests: ReadonlyMap<string, TestInHand>,
    { identities, outdated }: { identities: readonly ChangedIdentity[]; outdated: readonly HealthChangeRecord[] },
    options: WriteOptions,
  ): Promise<void> {
    const { states, days } = changedTests(tests, options);
    await writeTests(this.tx, this.repositoryId, states);
    await writeLastDays(this.tx, this.repositoryId, days);
    const nameOf = (testId: string): string => {
      const { known, news } = tests.get(testId) ?? {};
      return known?.test?.name || (news?.name ?? '');
    };
    const { isListedLate } = options;
    if (isListedLate) await noteLate(this.tx, this.repositoryId, [...new Set(identities.map(({ testId }) => testId))]);
    const isListed = ({ executionsBefore }: ChangedIdentity): boolean => executionsBefore > 0;
    await writeIdentities(this.tx, this.repositoryId, identities, nameOf, isListedLate ? isListed : undefined);
    const advanced = identities.flatMap((identity) =>
      identity.newer ? [{ ...identityOf(identity), newer: identity.newer }] : [],
    );
    await advanceCheckpoints(this.tx, this.repositoryId, advanced);
    await this.#writeJudged(
      [...tests.values()].flatMap(({ judged }) => judged),
      outdated,
      options,
    );
    await this.#addFailures(tests);
  }

  /** There are few changes: nearly every execution leaves the health as it was. */
  async #writeJudged(
    judged: readonly JudgedIdentity[],
    outdated: readonly HealthChangeRecord[],
    { isFlakyDetectionEnabled, findBeginnings }: WriteOptions,
  ): Promise<void> {
    const restarted = restartsOf({ judged });
    await this.writeCheckpoints(restarted.map((one) => checkpointsAfter(one, one.restart)));
    await forgetHealthChanges(this.tx, this.repositoryId, outdated);
    const changes = judged.flatMap(({ course, ...identity }): IdentifiedChange[] =>
      shownChanges(course.changes, isFlakyDetectionEnabled).map((change) => ({ ...identityOf(identity), ...change })),
    );
    await writeHealthChanges(this.tx, this.repositoryId, await newRecordsOf(changes, outdated, findBeginnings));
  }

  /** The stored ones after the place from which an identity starts over. */
  async #changesAfter(restarted: readonly (Identity & { start: StoredBelief })[]): Promise<HealthChangeRecord[]> {
    if (restarted.length === 0) return [];
    const starts = new Map(restarted.map((one) => [identityKey(one), one.start]));
    const known = await this.readChanges([...new Set(restarted.map(({ testId }) => testId))]);
    return known.filter((change) => {
      const start = starts.get(identityKey(change));
      return start && (start.at === null || comparePositions(change.at, start.at) > 0);
    });
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
    findBeginnings: FindBeginnings,
  ): Promise<void> {
    const known = Map.groupBy(await readIdentities(this.tx, this.repositoryId, testIds), ({ testId }) => testId);
    const after = new Map(derived.map(({ test, identities }) => [test.testId, identities]));
    const written = testIds.map(
      (testId): WrittenTest => ({
        ...{ testId, before: known.get(testId) ?? [], after: after.get(testId) ?? [] },
        mayHealthChange: true,
      }),
    );
    await keepTotals(this.#totals, written, () => this.#replace(testIds, derived, groups, findBeginnings));
  }

  async #replace(
    testIds: readonly string[],
    derived: readonly DerivedState[],
    groups: readonly FailureGroupRecord[],
    findBeginnings: FindBeginnings,
  ): Promise<void> {
    const names = new Map(derived.map(({ test }) => [test.testId, test.name]));
    await forgetIdentities(this.tx, this.repositoryId, testIds);
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
    await forgetCheckpoints(this.tx, this.repositoryId, testIds);
    await this.writeCheckpoints(derived.flatMap(({ checkpoints }) => checkpoints));
    const outdated = await this.#changesAfter(derived.flatMap(({ starts }) => starts));
    await forgetHealthChanges(this.tx, this.repositoryId, outdated);
    const changes = derived.flatMap((state) => state.changes);
    await writeHealthChanges(this.tx, this.repositoryId, recordsOf(changes, outdated, await findBeginnings(changes)));
    await this.replaceGroups(testIds, groups);
  }

  readGroups(testIds: readonly string[]): Promise<FailureGroupRecord[]> {
    return readFailureGroups(this.tx, this.repositoryId, testIds);
  }

  /** Replaces the failure groups of some tests. */
  async replaceGroups(testIds: readonly string[], groups: readonly FailureGroupRecord[]): Promise<void> {
    await forgetFailureGroups(this.tx, this.repositoryId, testIds);
    await writeFailureGroups(this.tx, this.repositoryId, groups);
  }

  readCheckpoints(testIds: readonly string[]): Promise<Checkpoints[]> {
    return readCheckpoints(this.tx, this.repositoryId, testIds);
  }

  writeCheckpoints(rows: readonly Checkpoints[]): Promise<void> {
    return writeCheckpoints(this.tx, this.repositoryId, rows);
  }
}

const restartsOf = ({ judged }: Pick<TestInHand, 'judged'>) =>
  judged.flatMap((one) => (one.restart ? [{ ...one, restart: one.restart }] : []));

/** All identities of a test, once some of them are written. */
function replaced(before: readonly IdentityRecord[], written: readonly IdentityRecord[]): IdentityRecord[] {
  const places = new Set(written.map(placeOf));
  return [...before.filter((record) => !places.has(placeOf(record))), ...written];
}

function knownTests(tests: readonly TestState[], identities: readonly IdentityRecord[]): Map<string, KnownTest> {
  const known = new Map<string, { test: TestState | undefined; records: IdentityRecord[] }>();
  for (const test of tests) known.set(test.testId, { test, records: [] });
  for (const record of identities) {
    const of = known.get(record.testId) ?? { test: undefined, records: [] };
    known.set(record.testId, of);
    of.records.push(record);
  }
  return known;
}

const identityOf = ({ testId, pipelineName, jobName }: Identity): Identity => ({ testId, pipelineName, jobName });
