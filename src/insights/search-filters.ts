/**
 * Filters of a search of tests. Each filter is one entry of {@link TEST_FILTERS} or {@link SEARCH_FILTERS}: its
 * name is that of the parameter and of its part in cursors; the entry says how the parameter is read and documented, and
 * which identities it means. Everything else iterates the entries.
 */
import { not, type SQL } from 'drizzle-orm';
import { ACTIVE_DAYS } from '../domain/activity.ts';
import { globToLike, isGlob } from '../domain/glob.ts';
import { LEVELS } from '../domain/health-confidence.ts';
import { testIdOf } from '../domain/identity.ts';
import { NAME_LENGTH_MAX, TEST_NAME_LENGTH_MAX } from '../domain/limits.ts';
import type { TestNames } from '../domain/rename-decisions.ts';
import { HEALTHS } from '../domain/status.ts';
import { type AxisFilter, axisFilterParameter, valuesByAxis } from '../http/axis-filter.ts';
import {
  enumParameter,
  enumsParameter,
  type QueryOf,
  type QueryParameter,
  textsParameter,
} from '../http/parameters.ts';
import { listedColumns } from '../postgres/identities.ts';
import {
  hasGrown,
  hasHealth,
  hasLegWhere,
  hasLevel,
  hasOpenQuarantine,
  hasOwner,
  isActiveAt,
  isCalmAt,
  isNamedNoneOf,
  isOneOf,
} from '../postgres/identity-conditions.ts';
import { recentColumns } from '../postgres/recent-columns.ts';
import { identities } from '../postgres/schema.ts';
import type { TestNames as NamedTests, TestSelection } from '../postgres/test-selection.ts';
import * as common from './common.ts';

/** An identity as reads by whole names have it in memory. */
interface Identity {
  pipelineName: string;
  jobName: string;
}

/** The tests that a filter is asked about, and when; milliseconds since the epoch. */
interface AskedAbout {
  repositoryId: string;
  /** A test is found by each name that it has or had. */
  names: TestNames;
  now: number;
}

interface AskedOfTests extends AskedAbout {
  /** For a filter by axes: what else is asked of the leg. */
  ofLeg: readonly SQL[];
}

interface TestFilter<V> extends QueryParameter<V> {
  /** A filter by axes asks this of the leg that it finds, and not of all legs together. */
  isOfLeg?: boolean;
  /** A condition on `identities`. Asked for only if a request has the parameter. */
  condition(value: NonNullable<V>, about: AskedOfTests): SQL;
  /** The same for an identity in memory. Without it, a search with this filter asks PostgreSQL. */
  holds?(value: NonNullable<V>, identity: Identity): boolean;
}

const filter = <V>(entry: TestFilter<V>): TestFilter<V> => entry;

const except = <T>(all: readonly T[], values: readonly unknown[]): T[] => all.filter((one) => !values.includes(one));

/** A healthy test has no impact. */
const IMPACTS = [null, ...LEVELS];

/** The filters that searches and repository statistics share. */
export const TEST_FILTERS = {
  test_name_exclude: filter({
    ...textsParameter(TEST_NAME_LENGTH_MAX, {
      description: 'All tests except these; `*` and `?` are wildcards.',
      example: ['Cart > slow *'],
    }),
    condition: (names, about) => isNamedNoneOf(about.repositoryId, namesOf(names, about)),
  }),
  pipeline_name: filter({
    ...common.namesParameter('Only these pipelines.', ['CI']),
    condition: (names) => isOneOf(identities.pipelineName, names),
    holds: (names, { pipelineName }) => names.includes(pipelineName),
  }),
  pipeline_name_exclude: filter({
    ...common.namesParameter('All pipelines except these.', ['nightly']),
    condition: (names) => not(isOneOf(identities.pipelineName, names)),
    holds: (names, { pipelineName }) => !names.includes(pipelineName),
  }),
  job_name: filter({
    ...common.namesParameter('Only these CI jobs.', ['unit']),
    condition: (names) => isOneOf(identities.jobName, names),
    holds: (names, { jobName }) => names.includes(jobName),
  }),
  job_name_exclude: filter({
    ...common.namesParameter('All CI jobs except these.', ['e2e']),
    condition: (names) => not(isOneOf(identities.jobName, names)),
    holds: (names, { jobName }) => !names.includes(jobName),
  }),
  health_confidence: filter({
    isOfLeg: true,
    ...enumsParameter(LEVELS, { description: 'Only healths of this confidence.', example: ['high'] }),
    condition: (levels) => hasLevel(listedColumns.confidence, levels),
  }),
  health_confidence_exclude: filter({
    isOfLeg: true,
    ...enumsParameter(LEVELS, { description: 'All but these.', example: ['low'] }),
    condition: (levels) => hasLevel(listedColumns.confidence, except(LEVELS, levels)),
  }),
  failed_executions_impact: filter({
    isOfLeg: true,
    ...enumsParameter(LEVELS, {
      description: 'Only tests whose failures cost this much; no healthy ones.',
      example: ['high'],
    }),
    condition: (levels, { now }) => hasLevel(recentColumns(now).impact, levels),
  }),
  failed_executions_impact_exclude: filter({
    isOfLeg: true,
    ...enumsParameter(LEVELS, { description: 'All but these.', example: ['low'] }),
    condition: (levels, { now }) => hasLevel(recentColumns(now).impact, except(IMPACTS, levels)),
  }),
};

/** Statistics do not take the others: they count by health. */
export const SEARCH_FILTERS = {
  ...TEST_FILTERS,
  health_status: filter({
    isOfLeg: true,
    ...enumsParameter(HEALTHS, { description: 'Only tests of this health.', example: ['flaky'] }),
    condition: hasHealth,
  }),
  health_status_exclude: filter({
    isOfLeg: true,
    ...enumsParameter(HEALTHS, { description: 'All but these.', example: ['healthy'] }),
    condition: (healths) => hasHealth(except(HEALTHS, healths)),
  }),
  is_active: filter({
    ...enumParameter(['true', 'false'], {
      description: `Only tests that are broken, or flaky and failed on their own in the last ${ACTIVE_DAYS} UTC days; or all others. With \`health_status=flaky\`, \`false\` finds calm flaky tests.`,
    }),
    isOfLeg: true,
    condition: (answer, { now }) => (answer === 'true' ? isActiveAt(now) : isCalmAt(now)),
  }),
  is_quarantined: filter({
    ...enumParameter(['true', 'false'], {
      description: 'Only tests that have an open quarantine, or that have none.',
    }),
    condition: (answer, { repositoryId }) =>
      answer === 'true' ? hasOpenQuarantine(repositoryId) : not(hasOpenQuarantine(repositoryId)),
  }),
  is_grown: filter({
    ...enumParameter(['true', 'false'], {
      description: 'Only tests that take longer than they did, as the list of durations says; or all others.',
    }),
    condition: (answer, { repositoryId }) => (answer === 'true' ? hasGrown(repositoryId) : not(hasGrown(repositoryId))),
  }),
  owner: filter({
    ...textsParameter(
      NAME_LENGTH_MAX,
      { description: 'Only tests of these owners; empty: tests that have none.', example: ['@acme/cart'] },
      0,
    ),
    condition: (owners, { repositoryId }) => hasOwner(repositoryId, owners),
  }),
  axis: filter({
    ...axisFilterParameter(
      'Only tests that ran in a leg with these values, as `name:value`. Healths, confidences and impacts that are asked for are then those of this leg.',
    ),
    condition: (axes: AxisFilter, { repositoryId, ofLeg }) => hasLegWhere(repositoryId, valuesByAxis(axes), ofLeg),
  }),
};

/** The names that are looked for. They are no filter of the table: lists of tests are read by them. */
export const testNames = {
  test_name: textsParameter(TEST_NAME_LENGTH_MAX, {
    description:
      'Name to find; `*` and `?` are wildcards. Repeat it for several names. Without it, every test is found.',
    example: ['Cart > *'],
  }),
};

type Filters<V> = { readonly [N in keyof V]: TestFilter<V[N]> };
type Asked<V> = QueryOf<typeof testNames> & NoInfer<V>;

/** A filter that a request has, with its value. */
interface GivenFilter {
  name: string;
  value: unknown;
  isOfLeg: boolean;
  condition(about: AskedOfTests): SQL;
  /** Undefined: what it means is not known of an identity in memory. */
  holds: ((identity: Identity) => boolean) | undefined;
}

function given<V>(name: string, { condition, holds, isOfLeg = false }: TestFilter<V>, value: V): GivenFilter[] {
  if (value === undefined || value === null || (Array.isArray(value) && value.length === 0)) return [];
  return [
    {
      name,
      value,
      isOfLeg,
      condition: (about) => condition(value, about),
      holds: holds && ((identity) => holds(value, identity)),
    },
  ];
}

function givenIn<V>(filters: Filters<V>, query: NoInfer<V>): GivenFilter[] {
  const found: GivenFilter[] = [];
  for (const name in filters) found.push(...given(name, filters[name], query[name]));
  return found;
}

/** The filters of a request: they identify a list for its cursors, and a count for those who ask for it again. */
export const askedIn = <V>(filters: Filters<V>, query: Asked<V>): Record<string, unknown> => ({
  test_name: query.test_name,
  ...Object.fromEntries(givenIn(filters, query).map(({ name, value }) => [name, value])),
});

/** Identities in memory that a search by whole names finds; undefined if it asks for something else, too. */
export function inMemory<V>(filters: Filters<V>, query: Asked<V>): ((identity: Identity) => boolean) | undefined {
  if (query.test_name.length === 0 || query.test_name.some(isGlob)) return undefined;
  const conditions: ((identity: Identity) => boolean)[] = [];
  for (const { holds } of givenIn(filters, query)) {
    if (!holds) return undefined;
    conditions.push(holds);
  }
  return (identity) => conditions.every((holds) => holds(identity));
}

/** The selection that PostgreSQL looks for. */
export const selectionOf = <V>(filters: Filters<V>, query: Asked<V>, about: AskedAbout): TestSelection => ({
  ...namesOf(query.test_name, about),
  ...(query.test_name.length === 0 && { patterns: ['%'] }),
  conditions: conditionsOf(givenIn(filters, query), about),
});

/**
 * With a filter by axes, what is asked of a leg is asked of the one that has these axes: a search for what is broken with
 * `os=windows` finds no test that is broken elsewhere.
 */
function conditionsOf(filters: readonly GivenFilter[], about: AskedAbout): SQL[] {
  const hasAxes = filters.some(({ name }) => name === ('axis' satisfies keyof typeof SEARCH_FILTERS));
  const [ofLegs, others] = [
    filters.filter(({ isOfLeg }) => hasAxes && isOfLeg),
    filters.filter(({ isOfLeg }) => !hasAxes || !isOfLeg),
  ];
  const ofLeg = ofLegs.map(({ condition }) => condition({ ...about, ofLeg: [] }));
  return others.map(({ condition }) => condition({ ...about, ofLeg }));
}

const namesOf = (names: readonly string[], { repositoryId, names: known }: AskedAbout): NamedTests => ({
  testIds: [...new Set(names.map((name) => known.testOf(testIdOf(repositoryId, name))))],
  patterns: names.filter(isGlob).map(globToLike),
});
