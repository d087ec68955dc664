/** The first page of a search by names comes from listings (src/postgres/counted-search.ts): it is that of all identities. */
import { beforeEach, expect, test } from 'bun:test';
import fc from 'fast-check';
import { testIdOf } from '../../src/domain/identity.ts';
import { addIdentities } from '../../src/postgres/count-identities.ts';
import { searchAndCount } from '../../src/postgres/counted-search.ts';
import { NAME_START_LENGTH } from '../../src/postgres/schema.ts';
import { countTests, type FoundIdentity, searchTests, type TestSearch } from '../../src/postgres/test-search.ts';
import { setUpIngest } from '../support/ingest.ts';
import { UNFILTERED } from '../support/searches.ts';
import { emptyStores } from '../support/stores.ts';

const ingest = setUpIngest();
beforeEach(() => emptyStores(ingest.stores));

const REPOSITORY = '00000000-0000-4000-8000-000000000001';
/** Names that are alike, or not, up to where listings end. */
const LONG = 'ä'.repeat(NAME_START_LENGTH - 1);
const STARTS = ['', 'Cart > ', LONG];
const ENDS = ['a', 'b', 'ab', 'ba', 'aab', 'baa', 'a%', 'a_b', 'ab😀'];
const NAMES = STARTS.flatMap((start) => ENDS.map((end) => start + end));
const PATTERNS = [
  'a%',
  '%b',
  '%a%',
  'Cart%a',
  'Cart > _',
  `${LONG}a%`,
  `${LONG}_b%`,
  `${LONG}%`,
  '%\\%',
  'C%\\_%',
  'x%',
];

const search = fc.record({
  patterns: fc.uniqueArray(fc.constantFrom(...PATTERNS), { maxLength: 3 }),
  names: fc.uniqueArray(fc.constantFrom(...NAMES), { maxLength: 2 }),
  sort: fc.constantFrom('executions_count', 'test_name'),
  isDescending: fc.boolean(),
  rows: fc.integer({ min: 1, max: 8 }),
});

const anIdentity = fc.record({
  name: fc.constantFrom(...NAMES),
  pipelineName: fc.constantFrom('', 'CI'),
  jobName: fc.constantFrom('', 'e2e', 'unit'),
  executions: fc.integer({ min: 0, max: 3 }),
});

async function write(known: readonly { name: string; pipelineName: string; jobName: string; executions: number }[]) {
  await emptyStores(ingest.stores);
  const { db } = ingest.stores.postgres;
  await addIdentities(
    db,
    known.map(({ name, pipelineName, jobName, executions }) => ({
      ...{
        repositoryId: REPOSITORY,
        testId: testIdOf(REPOSITORY, name),
        testName: name,
        pipelineName,
        jobName,
        axes: '',
      },
      ...{ executions, months: executions > 0 ? [202611, executions, 0] : [], days: [] },
      ...{ lastSuccessAt: 0, lastFailureAt: 0, newest: null, passes: { passes: 0, at: null, commit: '' } },
    })),
  );
}

const isLike = (name: string, pattern: string): boolean =>
  new RegExp(
    `^${pattern.replace(/\\?./gsu, (one) => (one === '%' ? '.*' : one === '_' ? '.' : RegExp.escape(one.at(-1) ?? '')))}$`,
    'su',
  ).test(name);
const byBytes = (one: string, other: string): number => Buffer.compare(Buffer.from(one), Buffer.from(other));
const shown = (rows: readonly Pick<FoundIdentity, 'name' | 'pipeline_name' | 'job_name' | 'listed_executions'>[]) =>
  rows.map((row) => [row.name, row.pipeline_name, row.job_name, row.listed_executions] as const);

test('whatever is listed and asked for: the page is that of all identities, and so is their number', async () => {
  const { db } = ingest.stores.postgres;
  const identities = fc.uniqueArray(anIdentity, {
    selector: ({ name, pipelineName, jobName }) => JSON.stringify([name, pipelineName, jobName]),
    maxLength: 40,
  });
  await fc.assert(
    fc.asyncProperty(identities, fc.array(search, { minLength: 1, maxLength: 12 }), async (known, searches) => {
      await write(known);
      for (const { names, patterns, sort, isDescending, rows } of searches) {
        const testIds = names.map((name) => testIdOf(REPOSITORY, name));
        if (patterns.length + testIds.length === 0) continue;
        const asked: TestSearch = { ...UNFILTERED, testIds, patterns, sort: sort as 'test_name', isDescending, rows };
        const all = known
          .filter(({ executions }) => executions > 0)
          .filter(({ name }) => names.includes(name) || patterns.some((pattern) => isLike(name, pattern)))
          .map((one) => [one.name, one.pipelineName, one.jobName, one.executions] as const)
          .sort((one, other) => {
            const byNames = byBytes(one[0], other[0]) || byBytes(one[1], other[1]) || byBytes(one[2], other[2]);
            if (sort === 'test_name') return isDescending ? -byNames : byNames;
            return (isDescending ? other[3] - one[3] : one[3] - other[3]) || byNames;
          });
        const counted = await searchAndCount(db, REPOSITORY, asked);
        expect(shown(counted?.rows ?? [])).toEqual(all.slice(0, rows));
        expect(counted?.total).toBe(all.length);
        expect(shown(await searchTests(db, REPOSITORY, asked))).toEqual(all.slice(0, rows));
        expect(await countTests(db, REPOSITORY, asked)).toBe(all.length);
      }
    }),
    { numRuns: 60 },
  );
});
