/** Verdicts on failures of pull requests say what the default branch was then, and what else failed at the time. */
import { describe, expect, test } from 'bun:test';
import { at, beside, type InsightsFixture, setUpInsights } from '../support/insights.ts';
import type { TestExecution } from '../support/jobs.ts';

interface Failures {
  verdicts: Record<string, number>;
  failures: {
    verdict: string;
    test_name: string;
    claim: { verdict: string } | null;
    evidence: {
      health_status: string | null;
      health_began_at: string | null;
      health_ended_at: string | null;
      failing_pull_requests: number | null;
      default_branch_failures: number;
      trouble: { sign: string; other_changes: number; on_default_branch: boolean } | null;
    };
  }[];
}

const failing = (name: string, message: string, hoursAgo: number): TestExecution => ({
  name,
  status: 'failed',
  at: at(hoursAgo),
  failures: [{ type: 'Error', message }],
});
const passing = (name: string, hoursAgo: number): TestExecution => ({ name, at: at(hoursAgo) });
const pull = (number: number) => ({ branch: `feature/${number}`, base_ref: 'main', pull_request: number });

const insights = setUpInsights();
const failuresOf = (fixture: InsightsFixture, commit: string): Promise<Failures> =>
  insights.app.get<Failures>(`${fixture.base}/commits/${commit}/failures?per_page=100`);

describe('a pull request that is based on a broken default branch', () => {
  test('is told so, also after the default branch was fixed', async () => {
    const fixture = insights.fixture.another();
    const broken = ['a', 'b', 'c'];
    const onMain = (hoursAgo: number, one: (name: string, hoursAgo: number) => TestExecution) =>
      fixture.run([...broken.map((name) => one(name, hoursAgo)), ...beside(hoursAgo)]);
    const fails = (name: string, hoursAgo: number) => failing(name, `no ${name}`, hoursAgo);
    await fixture.ingest(
      ...Array.from({ length: 20 }, (_, i) => onMain(100 - i, passing)),
      ...[50, 48, 46, 44].map((hoursAgo) => onMain(hoursAgo, fails)),
      fixture.run([...broken.map((name) => fails(name, 45)), ...beside(45)], { ...pull(7), commit: 'pr' }),
    );
    const before = await failuresOf(fixture, 'pr');
    expect(before.verdicts).toMatchObject({ new: 0, broken: 3 });
    for (const { evidence } of before.failures)
      expect(evidence).toMatchObject({ health_began_at: new Date(at(50)).toISOString(), health_ended_at: null });
    await fixture.ingest(...[40, 39, 38, 37, 36, 35].map((hoursAgo) => onMain(hoursAgo, passing)));
    const after = await failuresOf(fixture, 'pr');
    for (const { evidence } of after.failures) {
      expect(evidence.health_ended_at).not.toBeNull();
      evidence.health_ended_at = null;
    }
    // How likely the change caused it may move a little with what is learned of a test; what is said of it stays.
    const said = ({ failures, ...rest }: Failures) => ({
      ...rest,
      failures: failures.map(({ claim, ...failure }) => ({ ...failure, claim: claim?.verdict })),
    });
    expect(said(after)).toEqual(said(before));
    // The same fault, long after the fix, is one that has come back.
    await fixture.ingest(fixture.run([fails('a', 10), ...beside(10)], { ...pull(8), commit: 'later' }));
    expect((await failuresOf(fixture, 'later')).failures).toMatchObject([
      { verdict: 'new', evidence: { health_status: 'healthy', failing_pull_requests: 1 } },
    ]);
  });
});

describe('an outage that hits half of the tests of everyone for an hour', () => {
  const TESTS = Array.from({ length: 60 }, (_, i) => `test ${i}`);
  /** Each run meets it with other tests. */
  const isHit = (i: number, run: number): boolean => Number(Bun.hash(`${i}/${run}`) % 2n) === 0;
  const history = (fixture: InsightsFixture) =>
    Array.from({ length: 12 }, (_, i) => fixture.run(TESTS.map((name) => passing(name, 60 - i))));
  const hit = (hoursAgo: number, run: number): TestExecution[] =>
    TESTS.map((name, i) =>
      isHit(i, run) ? failing(name, `no answer for ${name}`, hoursAgo) : passing(name, hoursAgo),
    );

  test.each([
    ['while the default branch runs', true],
    ['while it does not run', false],
  ])('is infrastructure on each pull request, %s', async (_, runsOnMain) => {
    const fixture = insights.fixture.another();
    await fixture.ingest(
      ...history(fixture),
      ...(runsOnMain ? [fixture.run(hit(5, 9))] : []),
      ...[1, 2, 3, 4].map((n) => fixture.run(hit(5 - n / 10, n), { ...pull(n), commit: `pr${n}` })),
    );
    for (const commit of ['pr1', 'pr2', 'pr3', 'pr4']) {
      const { verdicts, failures } = await failuresOf(fixture, commit);
      const { new: unexplained = 0, infrastructure = 0 } = verdicts;
      // Some tests failed on this one alone.
      expect(infrastructure).toBeGreaterThan(4 * unexplained);
      const { trouble } = failures.find(({ verdict }) => verdict === 'infrastructure')?.evidence ?? {};
      expect(trouble).toMatchObject({ sign: 'same_failures' });
    }
  });

  test('is no excuse for what fails with a message that only one change has', async () => {
    const fixture = insights.fixture.another();
    const own = (n: number) => [failing('own', 'cannot read total of undefined', 5 - n / 10), ...hit(5 - n / 10, n)];
    await fixture.ingest(
      ...history(fixture),
      fixture.run([passing('own', 50)]),
      ...[1, 2, 3, 4].map((n) => fixture.run(n === 3 ? own(n) : hit(5 - n / 10, n), { ...pull(n), commit: `pr${n}` })),
    );
    const { failures } = await failuresOf(fixture, 'pr3');
    expect(failures.find(({ test_name: name }) => name === 'own')).toMatchObject({ verdict: 'new' });
    expect(failures.filter(({ verdict }) => verdict === 'infrastructure').length).toBeGreaterThan(20);
  });

  test('is infrastructure on a pull request alone, if nothing of it fails when the job runs again', async () => {
    const fixture = insights.fixture.another();
    const shown = { ...pull(1), commit: 'again', run_id: 'again' };
    await fixture.ingest(
      ...history(fixture),
      fixture.run(hit(5, 1), shown),
      fixture.run(
        TESTS.map((name) => passing(name, 4)),
        { ...shown, run_attempt: 2 },
      ),
    );
    expect((await failuresOf(fixture, 'again')).verdicts).toMatchObject({ new: 0 });
  });

  test('that only one pull request shows is its own doing', async () => {
    const fixture = insights.fixture.another();
    await fixture.ingest(
      ...history(fixture),
      fixture.run(hit(5, 1), { ...pull(1), commit: 'alone' }),
      fixture.run(hit(4.9, 1), { ...pull(1), commit: 'again' }),
      fixture.run(
        TESTS.map((name) => passing(name, 5)),
        { ...pull(2), commit: 'fine' },
      ),
    );
    for (const commit of ['alone', 'again'])
      expect((await failuresOf(fixture, commit)).verdicts).toMatchObject({ infrastructure: 0 });
  });
});

describe('a slow day on which each run has other tests that time out', () => {
  const TESTS = Array.from({ length: 60 }, (_, i) => `test ${i}`);
  /** Three of each run, which no other run has. */
  const slow = (hoursAgo: number, run: number, message = 'timed out after 5 s'): TestExecution[] =>
    TESTS.map((name, i) => (Math.floor(i / 3) === run ? failing(name, message, hoursAgo) : passing(name, hoursAgo)));

  test('is told by the message, while what a change breaks has another one', async () => {
    const fixture = insights.fixture.another();
    await fixture.ingest(
      ...Array.from({ length: 12 }, (_, i) => fixture.run(TESTS.map((name) => passing(name, 60 - i)))),
      ...[1, 2, 3, 4].map((n) => fixture.run(slow(5 - n / 10, n), { ...pull(n), commit: `pr${n}` })),
      fixture.run(slow(4.5, 5, 'no such column'), { ...pull(5), commit: 'own' }),
    );
    expect((await failuresOf(fixture, 'pr2')).failures).toMatchObject(
      [0, 1, 2].map(() => ({
        verdict: 'infrastructure',
        evidence: { trouble: { sign: 'same_message', other_changes: 3, on_default_branch: false } },
      })),
    );
    expect((await failuresOf(fixture, 'own')).verdicts).toMatchObject({ new: 3, infrastructure: 0 });
  });
});

describe('a test that fails on many pull requests, and nowhere else', () => {
  test('is new on each, which says on how many others it fails', async () => {
    const fixture = insights.fixture.another();
    await fixture.ingest(
      ...Array.from({ length: 10 }, (_, i) => fixture.run([passing('shared', 200 - i), ...beside(200 - i)])),
      ...Array.from({ length: 15 }, (_, i) =>
        fixture.run([failing('shared', 'no', 150 - 5 * i), ...beside(150 - 5 * i)], {
          ...pull(i + 1),
          commit: `pr${i + 1}`,
        }),
      ),
      fixture.run([failing('shared', 'no', 300), ...beside(300)], { ...pull(99), commit: 'long before' }),
    );
    expect((await failuresOf(fixture, 'pr15')).failures).toMatchObject([
      { verdict: 'new', evidence: { failing_pull_requests: 14 } },
    ]);
    expect((await failuresOf(fixture, 'pr1')).failures).toMatchObject([
      { verdict: 'new', evidence: { failing_pull_requests: 1 } },
    ]);
  });
});
