/** In sentences, where the stored state of tests differs from the one that the executions give. */
import { totalsOf } from '../domain/failure-group.ts';
import { NO_COUNTS, sumOfMonths } from '../domain/flat-counts.ts';
import { executionsOf } from '../domain/test-state.ts';
import { writeBelief } from '../postgres/belief-text.ts';
import type { FailureGroupRecord } from '../postgres/failure-groups.ts';
import type { HealthChangeRecord } from '../postgres/health-changes.ts';
import type { IdentityRecord, TestState } from '../postgres/test-states.ts';
import type { DerivedState } from './derived-state.ts';
import { identityKey } from './store.ts';

/**
 * @param known what is stored of the test
 * @param stored its identities
 */
export function stateDifferences(
  { test, identities }: DerivedState,
  known: TestState | undefined,
  stored: readonly IdentityRecord[],
): string[] {
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
  if (String(test.firstExecutions) !== String(known.firstExecutions))
    differences.push(
      `the first executions of test ${testId} in each month are ${test.firstExecutions}, but stored as ${known.firstExecutions}`,
    );
  if (known.lastDay !== null && test.lastDay !== known.lastDay)
    differences.push(`test ${testId} ran last on day ${test.lastDay}, but ${known.lastDay} is stored`);
  const flaky = new Map(known.flakyDays);
  for (const [day, executions] of test.flakyDays)
    if (flaky.get(day) !== executions)
      differences.push(
        `test ${testId} was flaky ${executions} times on day ${day}, but ${flaky.get(day) ?? 0} is stored`,
      );
  const firstDay = test.flakyDays[0]?.[0] ?? Number.MAX_SAFE_INTEGER;
  const derivedDays = new Map(test.flakyDays);
  for (const [day, executions] of known.flakyDays)
    if (day >= firstDay && executions > 0 && !derivedDays.has(day))
      differences.push(`test ${testId} was not flaky on day ${day}, but ${executions} times is stored`);
  const records = new Map(stored.map((record) => [keyOf(record), record]));
  for (const identity of identities) {
    const record = records.get(keyOf(identity));
    records.delete(keyOf(identity));
    if (!record) differences.push(`${keyOf(identity)} ran, but is not stored`);
    else differences.push(...identityDifferences(identity, record));
  }
  for (const [key, { summary }] of records)
    if (executionsOf(summary) > 0) differences.push(`${key} is stored, but no execution is retained`);
  return differences;
}

function identityDifferences(derived: IdentityRecord, stored: IdentityRecord): string[] {
  const [is, was] = [described(derived), described(stored)];
  return is === was ? [] : [`${keyOf(derived)} is ${is}, but stored as ${was}`];
}

/** What insights show of an identity, and what is believed of it. */
const described = ({ summary, health, belief }: IdentityRecord): string =>
  JSON.stringify([
    health,
    sumOfMonths(NO_COUNTS, summary.months),
    summary.days,
    summary.lastSuccessAt,
    summary.lastFailureAt,
    summary.newest && Object.entries(summary.newest).map(String).sort(),
    writeBelief(belief),
  ]);

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

const describedChange = ({ testId, pipelineName, jobName, at, before, after, beginning }: HealthChangeRecord): string =>
  JSON.stringify([
    ...[testId, pipelineName, jobName, at.finishedAt, at.executionId.toString(), before, after],
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
const keyOf = ({ testId, pipelineName, jobName }: IdentityRecord): string =>
  identityKey({ testId, pipelineName, jobName });
