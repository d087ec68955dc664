/** The search by axes: a test is found by the leg in which it ran, and by what that leg is. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import type { Axes } from '../../src/domain/axes.ts';
import { HEALTHS, type Health } from '../../src/domain/status.ts';
import type { TestSearchAnswer } from '../../src/insights/search.ts';
import { SEARCH_SORTS } from '../../src/postgres/test-search.ts';
import { linksOf } from '../support/http.ts';
import { at, beside, setUpInsights } from '../support/insights.ts';
import type { TestExecution } from '../support/jobs.ts';

interface Leg {
  job: string;
  axes: Axes;
  /** The health of each test that runs in it. */
  tests: Readonly<Record<string, Health>>;
}

/** A name and a value that a careless statement would read as something else. */
const ODD = { 'it\'s"odd"': 'a:b, {c} %' };
const LEGS: readonly Leg[] = [
  { job: 'unit', axes: { os: 'linux', python: '3.12' }, tests: { pays: 'healthy', adds: 'healthy', forks: 'broken' } },
  { job: 'unit', axes: { os: 'linux', python: '3.13' }, tests: { pays: 'healthy', adds: 'healthy', forks: 'healthy' } },
  { job: 'unit', axes: { os: 'windows', python: '3.13' }, tests: { pays: 'broken', adds: 'healthy' } },
  { job: 'e2e', axes: { os: 'macos', ...ODD }, tests: { pays: 'healthy', draws: 'broken' } },
  { job: 'lint', axes: {}, tests: { reads: 'broken', adds: 'healthy' } },
];
const ROUNDS = 12;

const resultOf = (name: string, health: Health, hoursAgo: number): TestExecution =>
  health === 'broken'
    ? { name, at: at(hoursAgo), status: 'failed', failures: [{ type: 'OSError', message: 'no such drive' }] }
    : { name, at: at(hoursAgo) };

const insights = setUpInsights((fixture) =>
  fixture.ingest(
    ...Array.from({ length: ROUNDS }, (_, round) => 100 - 4 * round).flatMap((hoursAgo, round) =>
      LEGS.map(({ job, axes, tests }) =>
        fixture.run(
          [
            ...Object.entries(tests).map(([name, health]) => resultOf(name, health, hoursAgo)),
            ...(Object.keys(axes).length === 0 ? [] : beside(hoursAgo)),
          ],
          { job_name: job, run_id: `${round}`, commit: `m${round}`, ...(Object.keys(axes).length > 0 && { axes }) },
        ),
      ),
    ),
  ),
);

interface Filter {
  axis: string[];
  health_status: Health[];
  health_status_exclude: Health[];
}

const PAIRS = [
  'os:linux',
  'os:windows',
  'os:macos',
  'os:beos',
  'python:3.12',
  'python:3.13',
  'browser:webkit',
  ...Object.entries(ODD).map(([name, value]) => `${name}:${value}`),
];

/** Entries as `job test`, by the definition. */
function entriesOf({ axis, health_status, health_status_exclude }: Filter): string[] {
  const wanted = Map.groupBy(axis, (pair) => pair.slice(0, pair.indexOf(':')));
  const found = LEGS.flatMap(({ job, axes, tests }) =>
    [...wanted].every(([name, pairs]) => pairs.includes(`${name}:${axes[name]}`))
      ? Object.entries(tests)
          .filter(
            ([, health]) =>
              (health_status.length === 0 || health_status.includes(health)) && !health_status_exclude.includes(health),
          )
          .map(([name]) => `${job} ${name}`)
      : [],
  );
  return [...new Set(found)].sort();
}

async function read(query: Record<string, string | string[]>): Promise<TestSearchAnswer> {
  return insights.app.get<TestSearchAnswer>(insights.fixture.search(query));
}
const entries = ({ tests }: TestSearchAnswer): string[] =>
  tests.map(({ job_name, test_name }) => `${job_name} ${test_name}`);

const NAMES = ['pays', 'adds', 'forks', 'draws', 'reads'];
const healths = fc.uniqueArray(fc.constantFrom(...HEALTHS), { maxLength: 2 });
const filter = fc.record({
  axis: fc.uniqueArray(fc.constantFrom(...PAIRS), { minLength: 1, maxLength: 3 }),
  health_status: healths,
  health_status_exclude: healths,
});

test('a search by axes and health finds the tests with a leg that has both, in every order, and counts as many', async () => {
  const how = fc.record({
    sort: fc.constantFrom(...SEARCH_SORTS),
    // By whole names, by patterns, and all of them: each is another statement.
    test_name: fc.constantFrom(NAMES, ['*s']),
  });
  await fc.assert(
    fc.asyncProperty(filter, how, async (asked, given) => {
      const expected = entriesOf(asked);
      const found = await read({ ...asked, ...given, per_page: '100' });
      const named = entries(found).filter((entry) => !entry.includes('beside'));
      expect(named.sort()).toEqual(expected);
      expect(found.total).toBe(expected.length);
    }),
    { numRuns: 60 },
  );
});

test('pages of such a search have each test once, and their count stays', async () => {
  const asked = { axis: ['os:linux', 'os:windows'], health_status: ['broken'], sort: 'test_name' };
  const found: string[] = [];
  let next: string | undefined = insights.fixture.search({ ...asked, per_page: '1' });
  while (next !== undefined) {
    const response: Response = await insights.app.request(next);
    const page = (await response.json()) as TestSearchAnswer;
    expect(page.total).toBe(2);
    found.push(...entries(page));
    next = linksOf(response).next;
  }
  expect(found).toEqual(['unit forks', 'unit pays']);
});

test('confidence and impact are those of the leg, too', async () => {
  const found = async (query: Record<string, string>) => entries(await read({ test_name: NAMES, ...query }));
  expect(await found({ axis: 'os:windows', failed_executions_impact: 'medium' })).toEqual(['unit pays']);
  expect(await found({ axis: 'python:3.12', failed_executions_impact: 'medium' })).toEqual(['unit forks']);
  const [sure, others] = await Promise.all([
    found({ axis: 'os:macos', health_confidence: 'high' }),
    found({ axis: 'os:macos', health_confidence_exclude: 'high' }),
  ]);
  expect([...sure, ...others].sort()).toEqual(['e2e draws', 'e2e pays']);
});

test('a test that is active in another leg only is not found as active', async () => {
  const found = async (query: Record<string, string>) => entries(await read({ test_name: NAMES, ...query }));
  expect(await found({ axis: 'os:windows', is_active: 'true' })).toEqual(['unit pays']);
  expect(await found({ axis: 'os:linux', is_active: 'true' })).toEqual(['unit forks']);
  expect(await found({ axis: 'python:3.13', is_active: 'true' })).toEqual(['unit pays']);
  expect((await found({ axis: 'os:windows', is_active: 'false' })).sort()).toEqual(['unit adds']);
  // In its leg with Python 3.13 it is calm.
  expect((await found({ axis: 'os:linux', is_active: 'false' })).sort()).toEqual([
    'unit adds',
    'unit forks',
    'unit pays',
  ]);
});
