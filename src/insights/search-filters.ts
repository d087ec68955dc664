/** What a search of tests may be filtered by, and what that means to the store. */
import { globToLike, isGlob } from '../domain/glob.ts';
import { LEVELS, type Level } from '../domain/health-confidence.ts';
import { testIdOf } from '../domain/identity.ts';
import { TEST_NAME_LENGTH_MAX } from '../domain/limits.ts';
import { HEALTHS } from '../domain/status.ts';
import {
  cursorParameter,
  enumParameter,
  enumsParameter,
  perPageParameter,
  type QueryOf,
  textsParameter,
} from '../http/parameters.ts';
import { SEARCH_SORTS } from '../postgres/test-search.ts';
import type { TestSelection } from '../postgres/test-selection.ts';
import * as common from './common.ts';
import { directionParameter } from './order.ts';

/** The filters that searches and repository statistics share. */
export const testFilters = {
  test_name: textsParameter(TEST_NAME_LENGTH_MAX, {
    description:
      'Name to find; `*` and `?` are wildcards. Repeat it for several names. Without it, every test is found.',
    example: ['Cart > *'],
  }),
  test_name_exclude: textsParameter(TEST_NAME_LENGTH_MAX, {
    description: 'All tests except these; `*` and `?` are wildcards.',
    example: ['Cart > slow *'],
  }),
  pipeline_name: common.namesParameter('Only these pipelines.', ['CI']),
  pipeline_name_exclude: common.namesParameter('All pipelines except these.', ['nightly']),
  job_name: common.namesParameter('Only these CI jobs.', ['unit']),
  job_name_exclude: common.namesParameter('All CI jobs except these.', ['e2e']),
  health_confidence: enumsParameter(LEVELS, { description: 'Only healths of this confidence.', example: ['high'] }),
  health_confidence_exclude: enumsParameter(LEVELS, { description: 'All but these.', example: ['low'] }),
  failed_executions_impact: enumsParameter(LEVELS, {
    description: 'Only tests whose failures cost this much; no healthy ones.',
    example: ['high'],
  }),
  failed_executions_impact_exclude: enumsParameter(LEVELS, { description: 'All but these.', example: ['low'] }),
};

export const searchQuery = {
  ...testFilters,
  health_status: enumsParameter(HEALTHS, { description: 'Only tests of this health.', example: ['flaky'] }),
  health_status_exclude: enumsParameter(HEALTHS, { description: 'All but these.', example: ['healthy'] }),
  is_quarantined: enumParameter(['true', 'false'], {
    description: 'Only tests that have an open quarantine, or that have none.',
  }),
  sort: enumParameter(SEARCH_SORTS, {
    description:
      'Defaults to the number of executions. Numbers and levels sort highest first, healths worst first. While results of thousands of tests arrive every second, the order by executions may be up to ten minutes behind.',
    default: 'executions_count',
  }),
  direction: directionParameter(),
  cursor: cursorParameter(),
  per_page: perPageParameter(),
};

type TestFilters = QueryOf<typeof testFilters>;
type SearchQuery = QueryOf<typeof searchQuery>;

/** What is found, and so what a cursor depends on. */
export function filtersOf({ sort, direction, cursor, per_page, ...filters }: SearchQuery) {
  return filters;
}

/** Whether a search asks for tests by their whole names, and for nothing but their pipelines and CI jobs. */
export function isByName(query: SearchQuery): boolean {
  const { test_name, pipeline_name, pipeline_name_exclude, job_name, job_name_exclude, ...others } = filtersOf(query);
  const isWhole = test_name.length > 0 && !test_name.some(isGlob);
  return isWhole && Object.values(others).every((value) => value === undefined || value.length === 0);
}

/** What the store looks for. */
export function selectionOf(
  query: TestFilters & Partial<Pick<SearchQuery, 'health_status' | 'health_status_exclude' | 'is_quarantined'>>,
  repositoryId: string,
): TestSelection {
  const idsOf = (names: readonly string[]): string[] => names.map((name) => testIdOf(repositoryId, name));
  const patternsOf = (names: readonly string[]): string[] => names.filter(isGlob).map(globToLike);
  const { is_quarantined: isQuarantined } = query;
  return {
    testIds: idsOf(query.test_name),
    patterns: query.test_name.length === 0 ? ['%'] : patternsOf(query.test_name),
    testIdsExcluded: idsOf(query.test_name_exclude),
    patternsExcluded: patternsOf(query.test_name_exclude),
    pipelines: query.pipeline_name,
    pipelinesExcluded: query.pipeline_name_exclude,
    jobs: query.job_name,
    jobsExcluded: query.job_name_exclude,
    healths: among(HEALTHS, query.health_status ?? [], query.health_status_exclude ?? []),
    confidences: among(LEVELS, query.health_confidence, query.health_confidence_exclude),
    impacts: among<Level | null>(
      [null, ...LEVELS],
      query.failed_executions_impact,
      query.failed_executions_impact_exclude,
    ),
    isQuarantined: isQuarantined === undefined ? null : isQuarantined === 'true',
  };
}

/** The values that a filter and its exclusion leave; null: neither is given. */
function among<T>(all: readonly T[], only: readonly T[], except: readonly T[]): T[] | null {
  if (only.length === 0 && except.length === 0) return null;
  return all.filter((one) => (only.length === 0 || only.includes(one)) && !except.includes(one));
}
