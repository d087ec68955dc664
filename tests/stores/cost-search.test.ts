/** A search in the order of cost reads places in parts: its pages are those of all identities sorted at once. */
import { beforeAll, expect, test } from 'bun:test';
import fc from 'fast-check';
import { placeKey } from '../../src/domain/cost.ts';
import { testIdOf } from '../../src/domain/identity.ts';
import { searchByCost } from '../../src/postgres/cost-search.ts';
import { addIdentities } from '../../src/postgres/count-identities.ts';
import { keyOf, type TestSearch } from '../../src/postgres/test-search.ts';
import { setUpIngest } from '../support/ingest.ts';
import { UNFILTERED } from '../support/searches.ts';
import { emptyStores } from '../support/stores.ts';

const ingest = setUpIngest();
const REPOSITORY = '00000000-0000-4000-8000-000000000001';
/** More than the first part has, however many of them cost something. */
const PLACES = Array.from({ length: 700 }, (_, i) => {
  const name = `test ${i % 350}${i % 2 === 0 ? ' even' : ''}`;
  return { name, testId: testIdOf(REPOSITORY, name), pipelineName: 'CI', jobName: i < 350 ? 'unit' : 'e2e' };
});
const ROWS_MAX = 1_000;

beforeAll(async () => {
  await emptyStores(ingest.stores);
  await addIdentities(
    ingest.stores.postgres.db,
    PLACES.map(({ name, ...place }) => ({
      ...{ repositoryId: REPOSITORY, testName: name, axes: '', ...place },
      ...{ executions: 1, months: [202611, 1, 0], days: [] },
      ...{ lastSuccessAt: 0, lastFailureAt: 0, newest: null, passes: { passes: 0, at: null, commit: '' } },
    })),
  );
});

const byBytes = (one: string, other: string): number => Buffer.compare(Buffer.from(one), Buffer.from(other));

test('every page, in both directions, of every test and of some', async () => {
  const { db } = ingest.stores.postgres;
  const asked = fc.record({
    patterns: fc.constantFrom(['%'], ['%even'], ['%test 1_', '%0 even'], ['nothing%']),
    share: fc.constantFrom(0, 0.02, 0.5, 1),
    amounts: fc.constantFrom(1, 3, 1_000),
    isDescending: fc.boolean(),
    isBackward: fc.boolean(),
    rows: fc.integer({ min: 1, max: 120 }),
    /** Where the page begins, among all rows. */
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    seed: fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true })),
  });
  await fc.assert(
    fc.asyncProperty(asked, async ({ patterns, share, amounts, isDescending, isBackward, rows, at, seed }) => {
      const random = (): number => seed.next().value ?? 0;
      const costs = new Map(
        PLACES.flatMap(({ name: _, ...place }) =>
          random() < share ? [[placeKey(place), { ...place, amount: Math.floor(random() * amounts) }] as const] : [],
        ),
      );
      const search = { ...UNFILTERED, testIds: [], patterns, sort: 'cost', isDescending, isBackward, costs } as const;
      const all = await searchByCost(db, REPOSITORY, { ...search, isBackward: false, rows: ROWS_MAX });
      const shown = all.map((one) => [one.costAmount ?? -1, one.name, one.job_name] as const);
      const sorted = shown.toSorted(
        (one, other) =>
          (isDescending ? other[0] - one[0] : one[0] - other[0]) ||
          byBytes(one[1], other[1]) ||
          byBytes(one[2], other[2]),
      );
      expect(shown).toEqual(sorted);
      expect(new Set(shown.map((one) => JSON.stringify(one))).size).toBe(all.length);
      if (patterns[0] === '%') expect(all).toHaveLength(PLACES.length);
      const from = Math.floor(at * all.length);
      const beside = all[from];
      if (!beside) return;
      const page: TestSearch & { costs: typeof costs } = { ...search, key: keyOf(search, beside), rows };
      const expected = isBackward ? all.slice(0, from).reverse() : all.slice(from + 1);
      expect(await searchByCost(db, REPOSITORY, page)).toEqual(expected.slice(0, rows));
    }),
    { numRuns: 40 },
  );
});
