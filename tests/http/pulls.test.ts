/** The list of pull requests. */
import { describe, expect, test } from 'bun:test';
import { pullRequests } from '../../src/postgres/schema.ts';
import { ingestCostlyWeek } from '../support/costly-week.ts';
import { at, beside, type InsightsFixture, iso, setUpInsights } from '../support/insights.ts';

const insights = setUpInsights();

interface Listed {
  size: number;
  pulls: {
    number: number;
    title: string | null;
    user: { login: string } | null;
    commit_sha: string;
    started_at: string;
    failed: number;
    verdicts: Record<string, number>;
    summary: string;
  }[];
}

const listOf = (fixture: InsightsFixture, query: Record<string, string> = {}) =>
  insights.app.get<Listed>(`${fixture.base}/pulls?${new URLSearchParams(query)}`);
const numbersOf = async (fixture: InsightsFixture, query: Record<string, string> = {}) =>
  (await listOf(fixture, query)).pulls.map(({ number }) => number);

async function ingestPulls(fixture: InsightsFixture): Promise<void> {
  const of = (number: number) => ({ branch: `branch-${number}`, base_ref: 'main', pull_request: number });
  const failing = (hours: number) => ({
    name: 'slow',
    at: at(hours),
    status: 'failed' as const,
    failures: [{ type: 'Error', message: 'no' }],
  });
  await fixture.ingest(
    fixture.run([{ name: 'slow', at: at(100) }, ...beside(100)]),
    fixture.run([{ name: 'slow', at: at(50) }], { ...of(3), commit: 'old' }),
    fixture.run([failing(20), ...beside(20)], { ...of(3), commit: 'new' }),
    fixture.run([{ name: 'slow', at: at(10) }], { ...of(5), commit: 'five' }),
    fixture.run([{ name: 'slow', at: at(24 * 30) }], { ...of(6), commit: 'six' }),
    fixture.run([{ name: 'slow', at: at(5) }], { branch: 'no-pull', commit: 'none' }),
    fixture.run([{ name: 'slow', at: at(30) }], { ...of(11), commit: 'eleven' }),
  );
  const told = { repositoryId: fixture.id, authorId: 1, baseRef: 'main' };
  await fixture.stores.postgres.db.insert(pullRequests).values([
    { ...told, number: 3, id: 3, title: 'Round Totals', authorLogin: 'ann', headCommit: 'newer', headRef: 'sums' },
    { ...told, number: 5, id: 5, title: 'Merged one', authorLogin: 'Bob', mergeCommit: 'm5' },
  ]);
}

describe('the list of pull requests', () => {
  test('leaves out those in which the merge queue checks others', async () => {
    const fixture = insights.fixture.another();
    await ingestCostlyWeek(fixture);
    const listed = await numbersOf(fixture, { days: '30', state: 'all', per_page: '100' });
    expect(listed).toContain(11);
    // The events of the queue say that it checked #10 there.
    expect(listed).not.toContain(900);
  });

  test('has those that are open, the one that ran last first, with its newest commit and what failed there', async () => {
    const fixture = insights.fixture.another();
    await ingestPulls(fixture);
    const { pulls } = await listOf(fixture);
    expect(pulls.map(({ number }) => number)).toEqual([3, 11]);
    expect(pulls[0]).toEqual({
      number: 3,
      title: 'Round Totals',
      user: { id: 1, login: 'ann' },
      head_ref: 'sums',
      head_commit: 'newer',
      merge_commit: null,
      commit_sha: 'new',
      started_at: iso(at(20)),
      ended_at: iso(at(20)),
      passed: 40,
      failed: 1,
      skipped: 0,
      verdicts: { new: 1, broken: 0, known_flaky: 0, infrastructure: 0, quarantined: 0 },
      summary: 'Probably your change: 1 failure, new; the gate fails.',
    } as never);
    expect(pulls[1]).toMatchObject({ title: null, user: null, summary: 'Nothing failed; the gate passes.' });
    const { summary } = await insights.app.get<{ summary: string }>(`${fixture.base}/commits/new/failures`);
    expect(summary).toBe(pulls[0]?.summary ?? '');
  });

  test('is filtered by state, author, days, and a part of the title or branch or the number', async () => {
    const fixture = insights.fixture.another();
    await ingestPulls(fixture);
    expect(await numbersOf(fixture, { state: 'all' })).toEqual([5, 3, 11]);
    expect(await numbersOf(fixture, { state: 'merged' })).toEqual([5]);
    expect(await numbersOf(fixture, { state: 'all', author: 'bob' })).toEqual([5]);
    expect(await numbersOf(fixture, { author: 'bo' })).toEqual([]);
    expect(await numbersOf(fixture, { q: 'totals' })).toEqual([3]);
    expect(await numbersOf(fixture, { q: 'SUMS' })).toEqual([3]);
    expect(await numbersOf(fixture, { q: 'branch-1' })).toEqual([11]);
    expect(await numbersOf(fixture, { q: '#11' })).toEqual([11]);
    expect(await numbersOf(fixture, { q: '1' })).toEqual([11]);
    expect(await numbersOf(fixture, { days: '60' })).toEqual([3, 11, 6]);
    expect(await numbersOf(fixture, { days: '1' })).toEqual([3]);
  });

  test('comes in pages that lead forward and back', async () => {
    const fixture = insights.fixture.another();
    const run = (i: number) =>
      fixture.run([{ name: 'a', at: at(i < 3 ? 1 : i) }], { commit: `c${i}`, pull_request: i, branch: 'x' });
    await fixture.ingest(...[1, 2, 3, 4, 5].map(run));
    const seen: number[] = [];
    let address: string | undefined = `${fixture.base}/pulls?per_page=2`;
    for (let pages = 0; address && pages < 5; pages++) {
      const response: Response = await insights.app.request(address);
      const { pulls } = (await response.json()) as Listed;
      seen.push(...pulls.map(({ number }) => number));
      address = /<([^>]+)>; rel="next"/.exec(response.headers.get('link') ?? '')?.[1];
    }
    expect(seen).toEqual([2, 1, 3, 4, 5]);
  });

  test('is empty for a repository that nothing is known of, and refuses what it does not understand', async () => {
    expect(await listOf(insights.fixture.another())).toMatchObject({ size: 0, pulls: [] } as never);
    const statusOf = async (query: string) =>
      (await insights.app.request(`${insights.fixture.base}/pulls?${query}`)).status;
    for (const query of ['state=closed', 'days=0', 'days=91', 'author=', `q=${'x'.repeat(20_000)}`])
      expect([query.slice(0, 20), await statusOf(query)]).toEqual([query.slice(0, 20), 422]);
  });
});
