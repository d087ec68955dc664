/**
 * Conditions on `identities` with their suspects (src/postgres/identities.ts): what filters of searches and statistics
 * mean.
 */
import { type AnyColumn, type SQL, sql } from 'drizzle-orm';
import { activeSince } from '../domain/activity.ts';
import type { Level } from '../domain/health-confidence.ts';
import type { Health } from '../domain/status.ts';
import { levelRank } from '../domain/test-metrics.ts';
import { withSuspects } from './identities.ts';
import { NO_OWNER } from './owners.ts';
import { identities, jobLegs, quarantines, suspects, testDurations, testOwners, tests } from './schema.ts';

import type { TestNames } from './test-selection.ts';

export const isOneOf = (column: AnyColumn, texts: readonly string[]): SQL =>
  sql`${column} = any(${sql.param(texts)}::text[])`;

/** A healthy test has the impact null. */
export const hasLevel = (column: SQL, levels: readonly (Level | null)[]): SQL =>
  sql`${column} = any(${sql.param(levels.map(levelRank))}::smallint[])`;

export function hasHealth(healths: readonly Health[]): SQL {
  // Not by the health that is shown, a coalesce: the planner would expect that few of the tests have it.
  if (healths.includes('healthy')) return sql`(${suspects.health} is null or ${isOneOf(suspects.health, healths)})`;
  // The same condition as in the index of unhealthy tests.
  return sql`(${isOneOf(suspects.health, healths)} and ${suspects.health} <> 'healthy')`;
}

/** The same as `isActive` (src/domain/activity.ts) of an identity that is unhealthy, which the index of those finds. */
export const isActiveAt = (now: number): SQL => sql`(${suspects.health} <> 'healthy'
  and (${suspects.health} = 'broken' or ${suspects.ownFailureMs} >= ${activeSince(now)}::bigint))`;

export const isCalmAt = (now: number): SQL => sql`(${suspects.health} is null or ${suspects.health} = 'healthy'
  or (${suspects.health} = 'flaky' and ${suspects.ownFailureMs} < ${activeSince(now)}::bigint))`;

export const hasOpenQuarantine = (repositoryId: string): SQL => sql`exists (
  select from ${quarantines} where quarantines.repository_id = ${repositoryId}
    and quarantines.test_id = ${identities.testId} and quarantines.removed_at is null
    and (quarantines.expires_at is null or quarantines.expires_at > now()))`;

/** Whether it grew in one of its legs: these are few, and have their own index. */
export const hasGrown = (
  repositoryId: string,
): SQL => sql`(identities.test_id, identities.pipeline_name, identities.job_name) in (
  select grown.test_id, grown.pipeline_name, grown.job_name from ${testDurations} as grown
  where grown.repository_id = ${repositoryId} and grown.grown_day is not null)`;

/**
 * The planner knows how many tests an owner has (src/postgres/owners.ts): an array would be searched from its beginning for
 * each identity. Tests without an owner are most tests, or few: each is looked up until a page is full, and no list of all of
 * them is made first.
 *
 * @param owners empty text: tests without an owner
 */
export function hasOwner(repositoryId: string, owners: readonly string[]): SQL {
  const named = owners.filter((owner) => owner !== NO_OWNER);
  const isOwned = sql`${identities.testId} in (
    select owned.test_id from ${testOwners} as owned
    where owned.repository_id = ${repositoryId} and owned.owner = any(${sql.param(named)}::text[]))`;
  if (named.length === owners.length) return isOwned;
  const isUnowned = sql`not exists (select from ${testOwners} as owned where owned.repository_id = ${repositoryId}
    and owned.test_id = ${identities.testId} and owned.owner <> ${NO_OWNER})`;
  return named.length === 0 ? isUnowned : sql`(${isOwned} or ${isUnowned})`;
}

export function isNamedNoneOf(repositoryId: string, { testIds, patterns }: TestNames): SQL {
  const one = sql`not ${identities.testId} = any(${sql.param(testIds)}::uuid[])`;
  if (patterns.length === 0) return one;
  const matches = patterns.map((pattern) => sql`found.name like ${pattern}`);
  // Asks which tests are left, because that is a join. A list of excluded tests that does not fit into the memory of a
  // statement would be read once for each identity.
  return sql`(${one} and ${identities.testId} in (
    select found.test_id from ${tests} as found
    where found.repository_id = ${repositoryId} and not (${sql.join(matches, sql` or `)})))`;
}

/**
 * Whether a leg with one of these values of each axis ran, of which the conditions hold. Legs of jobs are few, so their axes
 * are read once; which of them a test ran in, the key of identities says. The tables have the names that they have outside:
 * within, a condition means the leg.
 */
export const hasLegWhere = (
  repositoryId: string,
  axes: ReadonlyMap<string, readonly string[]>,
  conditions: readonly SQL[],
): SQL => sql`(identities.test_id, identities.pipeline_name, identities.job_name) in (
  select identities.test_id, identities.pipeline_name, identities.job_name from ${withSuspects}
  where identities.repository_id = ${repositoryId} and identities.executions > 0
    and identities.axes = any(array(
      select distinct named.axes from ${jobLegs} as named
      where named.repository_id = ${repositoryId} and ${sql.join(axesHold(axes), sql` and `)}))
    ${sql.join(
      conditions.map((one) => sql` and ${one}`),
      sql``,
    )})`;

/** A leg without axes has an empty text: not JSON. */
const axesHold = (axes: ReadonlyMap<string, readonly string[]>): SQL[] =>
  [...axes].map(
    ([name, values]) => sql`case when left(named.axes, 1) <> '{' then false
      else named.axes::jsonb ->> ${name} = any(${sql.param(values)}::text[]) end`,
  );
