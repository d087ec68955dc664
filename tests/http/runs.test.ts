/** Runs of commits, on any branch, as producers send them. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { readRunId, runIdOf } from '../../src/insights/run-id.ts';
import { type RunRow, runRow } from '../../src/insights/run-json.ts';
import { RunLists } from '../../src/insights/run-lists.ts';
import { pullRequests } from '../../src/postgres/schema.ts';
import { linksOf } from '../support/http.ts';
import { at, type InsightsFixture, iso, setUpInsights } from '../support/insights.ts';

interface Run {
  id: string;
  run_id: string | null;
  commit_sha: string | null;
  branch: string | null;
  jobs_count: number;
  passed: number;
  failed: number;
  is_troubled: boolean;
}
interface Runs {
  size: number;
  runs: Run[];
}
interface Detail extends Run {
  jobs: { job_name: string; run_attempt: number; failed_tests: number; trouble: string }[];
  reports: { upload_id: string; job_name: string; accepted: number; duplicate: number; stored_at: string | null }[];
}

const MANY = Array.from({ length: 20 }, (_, i) => `many ${i}`);
const pull = {
  branch: 'feature',
  base_ref: 'main',
  pull_request: 7,
  commit: 'pr1',
  run_id: '70',
  job_url: 'https://ci/70',
};

async function fill(fixture: InsightsFixture): Promise<void> {
  const run = fixture.run.bind(fixture);
  const first = run(
    [
      { name: 'a', at: at(20), status: 'failed' },
      { name: 'b', at: at(19) },
      { name: 'c', at: at(19), status: 'skipped' },
    ],
    pull,
  );
  await fixture.ingest(
    first,
    // Sent again, and the job run again.
    { ...first, upload_id: '0198f3a2-6c1e-7b1c-8f5d-1f2e3d4c5b6a' },
    run([{ name: 'a', at: at(18) }], { ...pull, run_attempt: 2 }),
    run([{ name: 'a', at: at(19) }], { ...pull, job_name: 'e2e' }),
    run(
      MANY.map((name) => ({ name, at: at(60) })),
      { commit: 'm1' },
    ),
    run(
      MANY.map((name) => ({ name, at: at(50), status: 'failed' })),
      { commit: 'm2' },
    ),
    run([{ name: 'a', at: at(10 * 24) }], { commit: 'old', pipeline_name: 'nightly' }),
    // Over midnight.
    run(
      [
        { name: 'a', at: at(40) },
        { name: 'b', at: at(30) },
      ],
      { commit: 'm3' },
    ),
  );
}

const insights = setUpInsights(fill);
const list = (query = '') => insights.app.get<Runs>(`${insights.fixture.base}/runs${query}`);
const commitsOf = async (query = '') => (await list(query)).runs.map(({ commit_sha }) => commit_sha);

describe('the list of runs', () => {
  test('has those of the last week on any branch, newest first, over all CI jobs and attempts', async () => {
    const { runs } = await list();
    expect(runs.map(({ commit_sha }) => commit_sha)).toEqual(['pr1', 'm3', 'm2', 'm1']);
    expect(runs[0] as unknown).toEqual({
      id: runIdOf({ pipelineName: 'CI', runId: '70', commit: 'pr1' }),
      pipeline_name: 'CI',
      run_id: '70',
      commit_sha: 'pr1',
      branch: 'feature',
      base_ref: 'main',
      pull_request: 7,
      is_on_default_branch: false,
      started_at: iso(at(20)),
      ended_at: iso(at(18)),
      jobs_count: 2,
      attempts_count: 2,
      passed: 3,
      failed: 1,
      skipped: 1,
      is_troubled: false,
    });
  });

  test('counts a run over midnight once, and marks those that are troubled', async () => {
    const { runs } = await list();
    expect(runs.find(({ commit_sha }) => commit_sha === 'm3')).toMatchObject({
      passed: 2,
      started_at: iso(at(40)),
    } as never);
    expect(runs.filter(({ is_troubled }) => is_troubled).map(({ commit_sha }) => commit_sha)).toEqual(['m2']);
  });

  test('takes filters by branch, commit and pipeline; a commit is found however old it is', async () => {
    expect(await commitsOf('?branch=feature')).toEqual(['pr1']);
    expect(await commitsOf('?commit_sha=old')).toEqual(['old']);
    expect(await commitsOf('?commit_sha=m1&commit_sha=m2')).toEqual(['m2', 'm1']);
    expect(await commitsOf(`?pipeline_name=nightly&start=${iso(at(300))}`)).toEqual(['old']);
    expect(await commitsOf(`?start=${iso(at(50))}&end=${iso(at(40))}`)).toEqual(['m2']);
    expect((await insights.app.request(`${insights.fixture.base}/runs?start=${iso(at(-1))}`)).status).toBe(422);
  });

  test('forwards and backwards, pages repeat nothing and skip nothing', async () => {
    const whole = await commitsOf('?per_page=100');
    const walk = async (from: string, rel: 'next' | 'prev'): Promise<string[][]> => {
      const pages: string[][] = [];
      for (let next: string | undefined = from; next; ) {
        const response = await insights.app.request(next);
        pages.push(((await response.json()) as Runs).runs.map(({ commit_sha }) => commit_sha ?? ''));
        next = linksOf(response)[rel];
      }
      return pages;
    };
    const first = `${insights.fixture.base}/runs?per_page=3`;
    expect((await walk(first, 'next')).flat()).toEqual(whole as string[]);
    const { last = '' } = linksOf(await insights.app.request(first));
    expect((await walk(last, 'prev')).reverse().flat()).toEqual(whole as string[]);
  });
});

describe('lists of runs that are asked for at the same time', () => {
  /** With how many statements they were answered. */
  function counting() {
    const { clickhouse } = insights.app.stores;
    let statements = 0;
    const lists = new RunLists({
      ...clickhouse,
      select: (...asked) => {
        statements++;
        return clickhouse.select(...asked);
      },
    });
    const { id } = insights.fixture;
    return {
      page: (asked: Parameters<RunLists['page']>[1]) => lists.page({ id, owner: 'any' }, asked),
      statements: () => statements,
    };
  }
  const comparable = (pages: RunRow[][]) =>
    pages.map((runs) =>
      runs.map((run) => ({
        ...runRow.parse(run),
        failed_jobs: run.failed_jobs.map((job) => JSON.stringify(job)).sort(),
      })),
    );

  test('are those that are asked for alone, whatever their windows, filters and places', async () => {
    const names = (...some: string[]) => fc.uniqueArray(fc.constantFrom(...some), { maxLength: 2 });
    const asked = fc.record({
      direction: fc.constantFrom('next' as const, 'previous' as const),
      perPage: fc.integer({ min: 1, max: 4 }),
      window: fc.record({
        start: fc.integer({ min: 15, max: 300 }).map(at),
        end: fc.integer({ min: 0, max: 14 }).map(at),
      }),
      key: fc.option(
        fc.tuple(
          fc.constantFrom(20, 40, 50, 60, 240).map(at),
          fc.constantFrom('CI', 'nightly', ''),
          fc.constantFrom('70', ''),
          fc.constantFrom('pr1', 'm2', 'z'),
        ),
      ),
      filters: fc.record({
        commits: names('pr1', 'm1', 'm2', 'old'),
        pipelines: names('CI', 'nightly'),
        branches: names('main', 'feature'),
        axes: names('os:windows', 'os:linux'),
      }),
    });
    let shown = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(asked, { minLength: 20, maxLength: 40 }), async (several) => {
        const lists = counting();
        const together = await Promise.all(several.map((one) => lists.page(one)));
        const alone: RunRow[][] = [];
        for (const one of several) alone.push(await lists.page(one));
        expect(comparable(together)).toEqual(comparable(alone));
        shown += alone.flat().length;
      }),
      { numRuns: 4 },
    );
    // Else the property would have compared nothing.
    expect(shown).toBeGreaterThan(0);
  });

  test('share a statement if they read the same days', async () => {
    const lists = counting();
    const filters = { commits: [], pipelines: [], branches: [], axes: [] };
    const asked = Array.from({ length: 33 }, (_, i) => ({
      ...{ direction: 'next' as const, key: null, perPage: 1 + i, filters },
      window: { start: at(70), end: at(12) - i },
    }));
    const pages = await Promise.all(asked.map((one) => lists.page(one)));
    expect(pages.map(({ length }) => length)).toEqual(asked.map(({ perPage }) => Math.min(perPage + 1, 4)));
    // The first is sent at once; the others wait for it, and go out sixteen at a time.
    expect(lists.statements()).toBe(3);
  });
});

describe('a run', () => {
  test('has the attempts of its CI jobs, and the reports that arrived for each', async () => {
    const [listed] = (await list('?branch=feature')).runs;
    const run = await insights.app.get<Detail>(`${insights.fixture.base}/runs/${listed?.id}`);
    expect(run).toMatchObject({ ...listed });
    expect(run.jobs.map(({ job_name, run_attempt, failed_tests }) => [job_name, run_attempt, failed_tests])).toEqual([
      ['unit', 1, 1],
      ['e2e', 1, 0],
      ['unit', 2, 0],
    ]);
    expect(run.jobs[0]).toMatchObject({ job_url: 'https://ci/70', passed: 1, failed: 1, skipped: 1 } as never);
    const brought = run.reports.map(({ job_name, accepted, duplicate }) => `${job_name} ${accepted} ${duplicate}`);
    expect(brought.sort()).toEqual(['e2e 1 0', 'unit 0 3', 'unit 1 0', 'unit 3 0']);
    expect(run.reports.every(({ stored_at }) => stored_at !== null)).toBe(true);
  });

  test('says how much of a troubled one failed', async () => {
    const [listed] = (await list('?commit_sha=m2')).runs;
    const run = await insights.app.get<Detail>(`${insights.fixture.base}/runs/${listed?.id}`);
    expect(run.jobs).toMatchObject([{ trouble: 'total', failed_tests: 20 }]);
  });

  test('that does not exist is 404, whatever its id is', async () => {
    const ids = [runIdOf({ pipelineName: 'CI', runId: '70', commit: 'other' }), 'x', '!', 'W10'];
    for (const id of ids)
      expect((await insights.app.request(`${insights.fixture.base}/runs/${encodeURIComponent(id)}`)).status).toBe(404);
  });

  test('has an id that leads back to its name, whatever that is', () => {
    const name = fc.string({ unit: 'grapheme', maxLength: 40 }).filter((value) => !value.includes('\0'));
    fc.assert(
      fc.property(fc.record({ pipelineName: name, runId: name, commit: name }), (run) => {
        expect(readRunId(runIdOf(run))).toEqual(run);
        expect(runIdOf(run)).toMatch(/^[\w-]+$/);
      }),
    );
  });
});

interface Pull {
  title: string | null;
  user: unknown;
  base_ref: string | null;
  head_ref: string | null;
  head_commit: string | null;
  merge_commit: string | null;
  commits_count: number;
  commits: { commit_sha: string; started_at: string; runs: number; passed: number; failed: number }[];
}

describe('a pull request', () => {
  const pullOf = (fixture: InsightsFixture, number: number) =>
    insights.app.get<Pull>(`${fixture.base}/pulls/${number}`);

  test('has its commits, newest first, with everything that ran on them', async () => {
    const fixture = insights.fixture.another();
    const of = { branch: 'feature', base_ref: 'main', pull_request: 7 };
    await fixture.ingest(
      fixture.run([{ name: 'a', at: at(500), status: 'failed' }], { ...of, commit: 'first', run_id: '1' }),
      fixture.run([{ name: 'a', at: at(30) }], { ...of, commit: 'second', run_id: '2' }),
      // On the branch, not for the pull request; and an upload that did not say which one it was for.
      fixture.run([{ name: 'b', at: at(29), status: 'failed' }], { branch: 'feature', commit: 'second', run_id: '3' }),
      fixture.run([{ name: 'c', at: at(28) }], { branch: 'feature', commit: 'second', run_id: '2' }),
      fixture.run([{ name: 'a', at: at(20) }], { ...of, pull_request: 8, commit: 'of another' }),
      fixture.run([{ name: 'a', at: at(10) }], { ...of, commit: '' }),
      fixture.run([{ name: 'a', at: at(5) }], { commit: 'main' }),
    );
    expect((await pullOf(fixture, 7)) as unknown).toEqual({
      number: 7,
      title: null,
      user: null,
      base_ref: 'main',
      head_ref: 'feature',
      head_commit: null,
      merge_commit: null,
      commented_commit: null,
      commits_count: 2,
      commits: [
        {
          commit_sha: 'second',
          started_at: iso(at(30)),
          ended_at: iso(at(28)),
          runs: 2,
          passed: 2,
          failed: 1,
          skipped: 0,
        },
        {
          commit_sha: 'first',
          started_at: iso(at(500)),
          ended_at: iso(at(500)),
          runs: 1,
          passed: 0,
          failed: 1,
          skipped: 0,
        },
      ],
    });
  });

  test('is what the host says of it, before and after something ran', async () => {
    const fixture = insights.fixture.another();
    const told = { repositoryId: fixture.id, id: 5, authorId: 1, authorLogin: 'ann', baseRef: 'main', headRef: 'sums' };
    await fixture.ingest(fixture.run([{ name: 'a' }], { branch: 'odd', pull_request: 13, commit: 'c1' }));
    await insights.app.stores.postgres.db.insert(pullRequests).values([
      { ...told, number: 12, title: 'Quiet', headCommit: 'c0' },
      { ...told, number: 13, title: 'Loud', headCommit: 'c2', mergeCommit: 'm1', authorId: null },
    ]);
    expect((await pullOf(fixture, 12)) as unknown).toMatchObject({
      title: 'Quiet',
      user: { id: 1, login: 'ann' },
      head_commit: 'c0',
      merge_commit: null,
      commits_count: 0,
      commits: [],
    });
    expect(await pullOf(fixture, 13)).toMatchObject({
      user: { login: 'ghost' },
      head_ref: 'sums',
      head_commit: 'c2',
      merge_commit: 'm1',
      commits: [{ commit_sha: 'c1' }],
    } as never);
  });

  test('lists the newest hundred commits, and counts all', async () => {
    const fixture = insights.fixture.another();
    const run = (i: number) =>
      fixture.run([{ name: 'a', at: at(300 - i) }], { commit: `c${i}`, pull_request: 7, branch: 'x' });
    await fixture.ingest(...Array.from({ length: 102 }, (_, i) => run(i)));
    const { commits_count: count, commits } = await pullOf(fixture, 7);
    expect([count, commits.length, commits[0]?.commit_sha, commits[99]?.commit_sha]).toEqual([102, 100, 'c101', 'c2']);
  });

  test('is 404 as long as nothing of it has arrived, and 422 if its number is none', async () => {
    const statusOf = async (number: string) =>
      (await insights.app.request(`${insights.fixture.base}/pulls/${number}`)).status;
    expect(await statusOf('7')).toBe(200);
    expect(await statusOf('2147483647')).toBe(404);
    for (const number of ['0', '-1', '7a', '1e3', '2147483648', '9'.repeat(40)])
      expect(await statusOf(number)).toBe(422);
    const nowhere = insights.fixture.another();
    expect((await insights.app.request(`${nowhere.base}/pulls/7`)).status).toBe(404);
  });
});
