/** In sentences, where the stored state of tests differs from the one that the executions give. */
import { comparePositions, type Position } from '../domain/execution.ts';
import { totalsOf } from '../domain/failure-group.ts';
import { NO_COUNTS, newestOfBoth } from '../domain/flat-counts.ts';
import { RATIO_DAYS } from '../domain/ratio-window.ts';
import type { Suspect } from '../domain/suspect.ts';
import { identityKey, jobKey } from '../domain/test-identity.ts';
import { countedIdentities, executionsOf, healthOfTest, newestOf } from '../domain/test-state.ts';
import { writeBelief } from '../postgres/belief-text.ts';
import type { FailureGroupRecord } from '../postgres/failure-groups.ts';
import type { HealthChangeRecord } from '../postgres/health-changes.ts';
import type { StoredIdentity } from '../postgres/identities.ts';
import type { TestRecord } from '../postgres/tests.ts';
import type { DerivedIdentity, DerivedState } from './derived-state.ts';

/** The stored state of a test. */
export interface StoredTest {
  test: TestRecord | undefined;
  identities: readonly StoredIdentity[];
  /** By `identityKey`. */
  suspects: ReadonlyMap<string, Suspect>;
}

export function stateDifferences({ test, identities }: DerivedState, { test: known, ...stored }: StoredTest): string[] {
  const { testId } = test;
  if (!known) return [`test ${testId} ran, but is not stored`];
  const differences: string[] = [];
  if (known.name !== test.name) differences.push(`test ${testId} is called ${test.name}, but stored as ${known.name}`);
  const [first, remembered] = [test.firstFailure, known.firstFailure];
  // An earlier one than any that is retained may be remembered.
  if (first && (!remembered || first.failedAt < remembered.failedAt))
    differences.push(
      `test ${testId} first failed at ${first.failedAt}, but ${remembered?.failedAt ?? 'never'} is stored`,
    );
  const records = new Map(stored.identities.map((record) => [identityKey(record), record]));
  for (const identity of identities) {
    const key = identityKey(identity);
    const record = records.get(key);
    records.delete(key);
    if (!record) differences.push(`${key} ran, but is not stored`);
    else
      differences.push(
        ...identityDifferences(identity, record),
        ...suspectDifferences(identity, stored.suspects.get(key)),
      );
  }
  for (const [key, { summary }] of records)
    if (executionsOf(summary) > 0) differences.push(`${key} is stored, but no execution is retained`);
  return differences;
}

function identityDifferences(derived: DerivedIdentity, stored: StoredIdentity): string[] {
  const firsts = [...derived.counts.months].filter((_, i) => i % 3 === 2).sort((one, other) => one - other);
  const [is, was] = [described({ ...derived, firstExecutions: firsts }), described(stored)];
  return is === was ? [] : [`${identityKey(derived)} is ${is}, but stored as ${was}`];
}

/** Everything that insights show of an identity, and the belief about it. */
const described = ({
  summary,
  health,
  ownFailureAt,
  belief,
  firstExecutions,
}: Pick<StoredIdentity, 'summary' | 'health' | 'ownFailureAt' | 'belief' | 'firstExecutions'>): string =>
  JSON.stringify([
    health,
    ownFailureAt,
    firstExecutions,
    inOrderOfKeys({ ...summary, newest: summary.newest && inOrderOfKeys(summary.newest) }),
    writeBelief(belief),
  ]);

const inOrderOfKeys = (fields: object): (readonly [string, unknown])[] =>
  Object.entries(fields)
    .map(([key, value]: [string, unknown]) => [key, typeof value === 'bigint' ? String(value) : value] as const)
    .sort(([one], [other]) => (one < other ? -1 : 1));

/**
 * How much of the history a suspect carries may differ, but it must be that of its executions: none missing, none too many.
 * A suspect that need not be one is no difference.
 */
function suspectDifferences({ suspect: derived, ...identity }: DerivedIdentity, stored: Suspect | undefined): string[] {
  const key = identityKey(identity);
  if (!stored) return derived ? [`${key} went wrong, but is no suspect`] : [];
  if (!derived) return [];
  const from = latest(stored.before.at, derived.before.at);
  const after = ({ recent }: Suspect): string =>
    recent
      .filter((one) => from === null || comparePositions(one, from) > 0)
      .map((one) => [one.executionId, one.finishedAt, one.status, one.isFlakyWithinRun, one.commit].join(' '))
      .join();
  if (after(stored) !== after(derived))
    return [`the recent executions of ${key} are ${after(derived)}, but stored as ${after(stored)}`];
  if (isSamePlace(stored.before.at, derived.before.at) && writeBelief(stored.before) !== writeBelief(derived.before))
    return [
      `before its recent executions, ${key} is ${writeBelief(derived.before)}, but stored as ${writeBelief(stored.before)}`,
    ];
  return [];
}

/** Where rows that add up the legs of a CI job are not their sum, or not as healthy as the worst of them. */
export function foldDifferences(legs: readonly DerivedIdentity[], folds: readonly StoredIdentity[]): string[] {
  const byJob = Map.groupBy(legs, (leg) => `${leg.testId}\0${jobKey(leg)}`);
  return folds.flatMap((fold) => {
    const ofJob = byJob.get(`${fold.testId}\0${jobKey(fold)}`) ?? [];
    const counted = (counts: readonly Pick<DerivedIdentity, 'summary'>[]) => [
      counts.reduce((sum, { summary }) => sum + executionsOf(summary), 0),
      counts.map(({ summary }) => summary.days).reduce((sum, days) => newestOfBoth(sum, days, RATIO_DAYS), NO_COUNTS),
      String(newestOf(counts.map(({ summary }) => summary))?.executionId),
    ];
    const health = healthOfTest(ofJob);
    const alike = countedIdentities(ofJob).filter((leg) => leg.health === health);
    const ownFailureAt = Math.max(0, ...alike.map((leg) => leg.ownFailureAt));
    const is = JSON.stringify([health, ownFailureAt, ...counted(ofJob)]);
    const was = JSON.stringify([fold.health, fold.ownFailureAt, ...counted([fold])]);
    return is === was ? [] : [`the legs of ${identityKey(fold)} are ${is}, but stored as ${was}`];
  });
}

const latest = (one: Position | null, other: Position | null): Position | null =>
  one === null || (other !== null && comparePositions(other, one) > 0) ? other : one;
const isSamePlace = (one: Position | null, other: Position | null): boolean =>
  one === null || other === null ? one === other : comparePositions(one, other) === 0;

/**
 * Changes of health since the baselines.
 *
 * @param isKept whether a stored change is from before its baseline, so that no retained execution shows it
 */
export function changeDifferences(
  derived: readonly HealthChangeRecord[],
  stored: readonly HealthChangeRecord[],
  isKept: (change: HealthChangeRecord) => boolean,
): string[] {
  const known = new Set(stored.filter((change) => !isKept(change)).map(describedChange));
  const differences = derived.flatMap((change) =>
    known.delete(describedChange(change)) ? [] : [`the change of health ${describedChange(change)} is not stored`],
  );
  return [
    ...differences,
    ...[...known].map((change) => `the change of health ${change} is stored, but nothing shows it`),
  ];
}

const describedChange = ({
  testId,
  pipelineName,
  jobName,
  axes,
  at,
  before,
  after,
  beginning,
}: HealthChangeRecord): string =>
  JSON.stringify([
    ...[testId, pipelineName, jobName, axes, at.finishedAt, at.executionId.toString(), before, after],
    ...(beginning ? [beginning.executionId, beginning.commit, beginning.exceptionType, beginning.pullRequest] : []),
  ]);

export function groupDifferences(
  derived: readonly FailureGroupRecord[],
  stored: readonly FailureGroupRecord[],
): string[] {
  const groups = new Map(stored.map((group) => [groupKey(group), group]));
  const differences: string[] = [];
  for (const group of derived) {
    const record = groups.get(groupKey(group));
    groups.delete(groupKey(group));
    const [is, was] = [describedGroup(group), record ? describedGroup(record) : 'missing'];
    if (is !== was) differences.push(`failure group ${groupKey(group)} is ${is}, but stored as ${was}`);
  }
  for (const key of groups.keys()) differences.push(`failure group ${key} is stored, but has no failure`);
  return differences;
}

const describedGroup = (group: FailureGroupRecord): string =>
  JSON.stringify([
    totalsOf(group),
    [...group.months].sort(([one], [other]) => one - other),
    { ...group.newest, executionId: group.newest.executionId.toString() },
  ]);

const groupKey = ({ testId, failureId }: FailureGroupRecord): string => `${testId}/${failureId}`;
