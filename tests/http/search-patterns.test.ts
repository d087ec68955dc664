/** Searches find what the rule of globs says, and their patterns may cost only so much. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { SEARCH_COST_MAX } from '../../src/domain/limits.ts';
import { globCharacter, matchesGlob } from '../support/globs.ts';
import { setUpInsights } from '../support/insights.ts';

interface Found {
  tests: { test_name: string }[];
}

const texts = (maxLength: number, count: number) =>
  fc.array(fc.string({ unit: globCharacter, minLength: 1, maxLength }), { minLength: 1, maxLength: count });
const [sampled = []] = fc.sample(texts(8, 60), { numRuns: 1, seed: 7 });
const LONG = '😀😀'.repeat(5_000);
const ESCAPED = '100*%_\\ of them';
const NAMES = [
  ...new Set([
    ...sampled,
    ...sampled.map((name) => name.replace(/[*?\\]/g, 'a')),
    LONG,
    'a'.repeat(9_000),
    ESCAPED,
    '100 of them',
  ]),
];

const insights = setUpInsights((fixture) => fixture.ingest(fixture.run(NAMES.map((name) => ({ name })))));

const search = (test_name: string[]): Promise<Found> =>
  insights.app.get<Found>(insights.fixture.search({ per_page: '100', test_name }));
const found = async (globs: string[]) => (await search(globs)).tests.map(({ test_name }) => test_name).sort();

test('several patterns of any characters find the names that the rule says', async () => {
  const short = NAMES.filter((name) => name.length < 100);
  await fc.assert(
    fc.asyncProperty(texts(7, 12), async (globs) => {
      const expected = short.filter((name) => globs.some((glob) => matchesGlob([...glob], [...name])));
      const names = await found(globs);
      expect(names.filter((name) => name.length < 100)).toEqual(expected.sort());
    }),
    { numRuns: 60 },
  );
});

test('a pattern with thousands of wildcards is matched', async () => {
  expect(await found(['?'.repeat(10_000)])).toEqual([LONG]);
  expect(await found(['*a'.repeat(4_999)])).toEqual(['a'.repeat(9_000)]);
});

test('a pattern may begin with more characters than the index of names holds, and with escapes', async () => {
  expect(await found([`${'😀'.repeat(70)}*`])).toEqual([LONG]);
  expect(await found([`${'😀'.repeat(64)}?${'😀'.repeat(60)}*`])).toEqual([LONG]);
  expect(await found([`${'a'.repeat(80)}*`])).toEqual(['a'.repeat(9_000)]);
  expect(await found([`${'a'.repeat(80)}b*`])).toEqual([]);
  expect(await found(['100\\*%_\\\\*'])).toEqual([ESCAPED]);
  expect(await found(['100*'])).toEqual(['100 of them', ESCAPED]);
});

test('255 ordinary patterns are matched', async () => {
  const globs = Array.from({ length: 255 }, (_, i) => `suite ${i} > *cart*total*${i}`);
  expect(await found(globs)).toEqual([]);
  expect(await found([...globs.slice(1), '*aa*aa*aa*'])).toEqual(['a'.repeat(9_000)]);
});

test('patterns that cost too much are refused with what to do', async () => {
  const globs = Array.from({ length: 250 }, (_, i) => `${'*a'.repeat(50)}${i}`);
  const response = await insights.app.request(insights.fixture.search({ test_name: globs }));
  expect(response.status).toBe(422);
  expect(await response.json()).toMatchObject({
    errors: [
      {
        loc: ['query', 'test_name'],
        type: 'too_expensive',
        msg: expect.stringContaining(`cost more than ${SEARCH_COST_MAX} together`),
      },
    ],
  });
});
