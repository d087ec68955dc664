/** Where a test fails, over REST: from executions of a matrix, as producers send them. */
import { describe, expect, test } from 'bun:test';
import type { Explanation } from '../../src/explain/explanation-schema.ts';
import type { TestAxes } from '../../src/insights/axes.ts';
import { at, beside, type InsightsFixture, iso, setUpInsights } from '../support/insights.ts';
import type { TestJob } from '../support/jobs.ts';

const LEGS = ['linux', 'macos', 'windows'].flatMap((os) => ['3.12', '3.13'].map((python) => ({ os, python })));
const COMMITS = 8;
const HOURS = 24;

/** Once a day all legs run for a new commit. */
const matrix = (
  fixture: InsightsFixture,
  name: string,
  isFailed: (axes: (typeof LEGS)[number]) => boolean,
  run: TestJob['run'] = {},
) =>
  Array.from({ length: COMMITS }, (_, i) =>
    LEGS.map((axes) => {
      const finished = 1 + i * HOURS;
      const status = isFailed(axes) ? 'failed' : 'passed';
      const failures = status === 'failed' ? [{ message: `no ${axes.os} on ${axes.python}` }] : [];
      return fixture.run([{ name, at: at(finished), status, failures }, ...beside(finished)], {
        commit: `c${i}`,
        axes,
        ...run,
      });
    }),
  ).flat();

const insights = setUpInsights((fixture) =>
  fixture.ingest(
    ...matrix(fixture, 'on windows', ({ os }) => os === 'windows'),
    ...matrix(fixture, 'fine', () => false),
    // A fork says that it fails on Linux.
    ...matrix(fixture, 'on windows', ({ os }) => os === 'linux', {
      branch: 'feature',
      base_ref: 'main',
      pull_request: 7,
      is_confined: true,
    }),
    fixture.run([{ name: 'once', at: at(31 * 24), status: 'failed' }, ...beside(31 * 24)]),
    fixture.run([{ name: 'once', at: at(2) }, ...beside(2)]),
  ),
);

const WINDOWS = {
  kind: 'axes',
  sentence: 'Fails only with os=windows.',
  terms: [[{ axis: 'os', values: ['windows'] }]],
  commits_count: COMMITS,
  inside: { failed: 2 * COMMITS, ran: 2 * COMMITS },
  outside: { failed: 0, ran: 4 * COMMITS },
};

describe('where a test fails', () => {
  const axesOf = (name: string) => insights.app.get<TestAxes>(insights.fixture.test(name, '/axes'));

  test('is said with its evidence and its legs, and what a fork sent is no evidence', async () => {
    const { fails_with, legs, ...rest } = await axesOf('on windows');
    expect(fails_with).toMatchObject(WINDOWS);
    expect(fails_with?.probability).toBeGreaterThan(0.95);
    expect(legs.slice(0, 3)).toEqual([
      {
        pipeline_name: 'CI',
        job_name: 'unit',
        axes: { os: 'windows', python: expect.any(String) },
        passed: 0,
        failed: COMMITS,
      },
      {
        pipeline_name: 'CI',
        job_name: 'unit',
        axes: { os: 'windows', python: expect.any(String) },
        passed: 0,
        failed: COMMITS,
      },
      { pipeline_name: 'CI', job_name: 'unit', axes: expect.any(Object), passed: COMMITS, failed: 0 },
    ]);
    expect(rest).toMatchObject({ is_complete: true, legs_count: LEGS.length });
  });

  test('is the same in the explanation, which knows only what had finished as of a moment', async () => {
    const explained = (query: Record<string, string> = {}) =>
      insights.app.get<Explanation>(insights.fixture.test('on windows', '/explanation', query));
    expect((await explained()).fails_with).toMatchObject(WINDOWS);
    // Two commits tell nothing.
    const early = await explained({ as_of: iso(at((COMMITS - 2) * HOURS)) });
    expect(early.fails_with).toMatchObject({ kind: 'unknown', terms: [], probability: null, inside: null });
  });

  test('is not asked of a test that has not failed in these days', async () => {
    for (const name of ['fine', 'once'])
      expect(await axesOf(name)).toMatchObject({ fails_with: null, legs_count: 0, legs: [] });
  });

  test('of an unknown test is 404', async () => {
    expect((await insights.app.request(insights.fixture.test('nobody', '/axes'))).status).toBe(404);
  });
});
