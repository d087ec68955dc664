/** Searches, as stores take them. */
import type { TestSearch } from '../../src/postgres/test-search.ts';
import { TEST_NOW } from './clock.ts';

/** The first page, without any filter. */
export const UNFILTERED: Omit<TestSearch, 'testIds' | 'patterns' | 'sort' | 'isDescending' | 'rows'> = {
  ...{ conditions: [], isBackward: false, key: null, now: TEST_NOW },
};
