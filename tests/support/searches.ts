/** Searches, as stores take them. */
import type { TestSearch } from '../../src/postgres/test-search.ts';

/** The first page, without any filter. */
export const UNFILTERED: Omit<TestSearch, 'testIds' | 'patterns' | 'sort' | 'isDescending' | 'rows'> = {
  ...{ pipelines: [], pipelinesExcluded: [], jobs: [], jobsExcluded: [], testIdsExcluded: [], patternsExcluded: [] },
  ...{ healths: null, confidences: null, impacts: null, isQuarantined: null, isBackward: false, key: null },
};
