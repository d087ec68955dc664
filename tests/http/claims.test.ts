/** The question whether a change caused its failures, over runs that a producer would send. */
import { beforeAll, describe, expect, test } from 'bun:test';
import type { Claims } from '../../src/insights/claims.ts';
import { at, beside, type InsightsFixture, setUpInsights } from '../support/insights.ts';
import type { TestExecution } from '../support/jobs.ts';

const failing = (name: string, message: string, hoursAgo: number): TestExecution => ({
  ...{ name, status: 'failed', at: at(hoursAgo), failures: [{ type: 'Error', message }] },
});
const passing = (name: string, hoursAgo: number): TestExecution => ({
  ...{ name, at: at(hoursAgo), filepath: 'tests/test_cart.py', function: name.split('.').at(-1) ?? name },
});
const pull = { branch: 'feature/rounding', base_ref: 'main', pull_request: 7, commit: 'pr1' };
const MANY = Array.from({ length: 60 }, (_, i) => `many ${i}`);

async function fill(fixture: InsightsFixture): Promise<void> {
  const run: typeof fixture.run = (executions, more) => fixture.run(executions, { framework: 'pytest', ...more });
  const all = ['flaky', 'broken', 'tests.test_cart.test_total', ...MANY];
  await fixture.ingest(
    ...Array.from({ length: 30 }, (_, i) => run(all.map((name) => passing(name, 140 - i)))),
    run([failing('flaky', 'timed out', 82), ...beside(82)], { commit: 'm0' }),
    run([passing('flaky', 81), ...beside(81)], { commit: 'm0' }),
    run([failing('flaky', 'timed out', 80), ...beside(80)], { commit: 'm1' }),
    run([passing('flaky', 79), ...beside(79)], { commit: 'm1' }),
    run(
      all.map((name) => (name === 'broken' ? failing('broken', 'no such key', 70) : passing(name, 70))),
      { commit: 'm2' },
    ),
    run(
      all.map((name) => (name === 'broken' ? failing('broken', 'no such key', 69) : passing(name, 69))),
      { commit: 'm3' },
    ),
  );
  await fixture.ingest(
    run(
      all.map((name) => passing(name, 75)),
      { commit: 'm1-before' },
    ),
    run([failing('flaky', 'timed out', 30), ...beside(30)], { ...pull, commit: 'pr2', pull_request: 8, run_id: '2' }),
    ...['linux', 'windows'].map((os) =>
      run([os === 'linux' ? failing('many 1', 'expected 1 got 2', 28) : passing('many 1', 28), ...beside(28)], {
        ...{ ...pull, commit: 'pr3', pull_request: 9, run_id: `3-${os}`, axes: { os } },
      }),
    ),
  );
  const failures = (hoursAgo: number) => [
    failing('flaky', 'timed out', hoursAgo),
    failing('broken', 'no such key', hoursAgo),
    failing('tests.test_cart.test_total', 'expected 3 got 4', hoursAgo),
    ...MANY.map((name) => passing(name, hoursAgo)),
  ];
  await fixture.ingest(
    run(failures(40), { ...pull, run_id: '1', run_attempt: 1 }),
    run(failures(39), { ...pull, run_id: '1', run_attempt: 2 }),
    run([passing('flaky', 38), ...failures(38).slice(1)], { ...pull, run_id: '1', run_attempt: 3 }),
  );
}

const insights = await setUpInsights();
beforeAll(async () => {
  await fill(insights.fixture);
});

async function ask(body: object): Promise<{ status: number; answer: Claims }> {
  const response = await insights.app.request(`${insights.fixture.base}/claims`, {
    ...{ method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) },
  });
  return { status: response.status, answer: (await response.json()) as Claims };
}
const verdictsOf = ({ claims }: Claims) => Object.fromEntries(claims.map((one) => [one.test_name, one.verdict]));

describe('claims', () => {
  test('tell what the change broke from what was broken, and from what passes on the same code', async () => {
    const { answer } = await ask({ commit: 'pr1' });
    expect(verdictsOf(answer)).toEqual({
      'tests.test_cart.test_total': 'change',
      broken: 'broken',
      flaky: 'flaky',
    });
    expect(answer.claims[0]?.test_name).toBe('tests.test_cart.test_total');
    expect(answer).toMatchObject({ commit: 'pr1', total: 3, not_found: [] });
    expect(answer.compared_with).toMatchObject({ runs: 3, legs: 1, base_commit: null });
    const flaky = answer.claims.find(({ test_name }) => test_name === 'flaky');
    expect(flaky?.against.map(({ sentence }) => sentence)).toContain('The same code passed once and failed 2 times.');
  });

  test('are the same for a pull request, and beside the failures of the commit', async () => {
    const { answer } = await ask({ commit: 'pr1' });
    expect((await ask({ pull_request: 7 })).answer).toEqual(answer);
    interface Listed {
      failures: { test_name: string; verdict: string; claim: { probability: number; verdict: string } }[];
    }
    const { failures } = await insights.app.get<Listed>(`${insights.fixture.base}/commits/pr1/failures`);
    for (const { test_name, verdict, claim } of failures)
      expect(answer.claims.find((one) => one.test_name === test_name)).toMatchObject({
        ...claim,
        commit_verdict: verdict,
      });
    expect(failures).toHaveLength(3);
  });

  test('stand beside the command that runs the failed test alone, as the details of the test have it', async () => {
    const { failures } = await insights.app.get<{ failures: { test_name: string; reproduce: string | null }[] }>(
      `${insights.fixture.base}/commits/pr1/failures`,
    );
    const command = 'pytest tests/test_cart.py::test_total';
    expect(Object.fromEntries(failures.map(({ test_name, reproduce }) => [test_name, reproduce]))).toEqual({
      'tests.test_cart.test_total': command,
      broken: null,
      flaky: null,
    });
    const details = await insights.app.get(insights.fixture.test('tests.test_cart.test_total'));
    expect(details).toMatchObject({ reproduce: command });
  });

  test('count what the base commit shows', async () => {
    const { answer } = await ask({ commit: 'pr1', base_commit: 'm3', test_names: ['broken'] });
    expect(answer.compared_with).toMatchObject({ base_commit: 'm3', base_runs: 1 });
    const [claim] = answer.claims;
    expect(claim?.against.map(({ sentence }) => sentence)).toContain('On the base commit m3, it failed once.');
    const unknown = await ask({ commit: 'pr1', base_commit: 'nowhere' });
    expect(unknown.answer.compared_with).toMatchObject({ base_commit: 'nowhere', base_runs: 0 });
  });

  test('do not blame a pull request for what the default branch has broken, and doubt that where its base passed', async () => {
    const onOld = { commit: 'pr1', base_commit: 'm1-before', test_names: ['broken'] };
    const passed = (await ask(onOld)).answer;
    expect(passed.compared_with).toMatchObject({ base_commit: 'm1-before', base_runs: 1 });
    const [claim] = passed.claims;
    const [newest] = (await ask({ commit: 'pr1', base_commit: 'm3', test_names: ['broken'] })).answer.claims;
    expect(newest?.verdict).toBe('broken');
    expect(claim?.for.map(({ sentence }) => sentence)).toContain('On the base commit m1-before, it passed once.');
    expect(claim?.probability ?? 0).toBeGreaterThan(10 * (newest?.probability ?? 1));
  });

  test('call nothing flaky that has not passed on the same code, and say what would decide', async () => {
    const { answer } = await ask({ commit: 'pr2' });
    const [claim] = answer.claims;
    expect(claim).toMatchObject({ test_name: 'flaky', verdict: 'unknown' });
    expect(claim?.needs?.reruns).toBeGreaterThan(0);
    expect(claim?.needs?.sentence).toMatch(
      /^Hardly the change: one rerun of unit \(CI\) that passes would show it\. \d+ reruns in which all fail/,
    );
    // All of them fail.
    await insights.fixture.ingest(
      ...Array.from({ length: claim?.needs?.reruns ?? 0 }, (_, i) =>
        insights.fixture.run([failing('flaky', 'timed out', 29), ...beside(29)], {
          ...{ ...pull, commit: 'pr2', pull_request: 8, run_id: '2', run_attempt: 2 + i },
        }),
      ),
    );
    expect((await ask({ commit: 'pr2' })).answer.claims[0]?.verdict).toBe('change');
  });

  test('count what the test does in its other legs', async () => {
    const { answer } = await ask({ commit: 'pr3' });
    const legs = answer.claims.map(({ test_name }) => test_name);
    expect(legs).toEqual(['many 1']);
    expect(answer.compared_with.legs).toBe(2);
    expect(answer.claims[0]?.against.map(({ sentence }) => sentence)).toContain(
      'On this commit, it passes in its other legs.',
    );
  });

  test('are asked about tests by id, by name, by a report, or by a log; what is not known is said', async () => {
    const { answer } = await ask({ commit: 'pr1' });
    const [first] = answer.claims;
    expect((await ask({ commit: 'pr1', test_ids: [first?.test_id] })).answer.claims).toEqual(first ? [first] : []);
    const named = await ask({ commit: 'pr1', test_names: ['broken', 'nothing'] });
    expect(verdictsOf(named.answer)).toEqual({ broken: 'broken' });
    expect(named.answer.not_found).toEqual([
      { test: 'nothing', sentence: 'No failure of it is stored for this commit.' },
    ]);
    const text =
      '<testsuites><testsuite name="s"><testcase classname="tests.test_cart" name="test_total"><failure message="x"/></testcase><testcase classname="a" name="fine"/></testsuite></testsuites>';
    for (const report of [{ text }, { format: 'junit', text }])
      expect(Object.keys(verdictsOf((await ask({ commit: 'pr1', report })).answer))).toEqual([
        'tests.test_cart.test_total',
      ]);
    const log = 'FAILED tests/test_cart.py::test_total - assert 3 == 4\n1 failed, 2 passed';
    expect(Object.keys(verdictsOf((await ask({ commit: 'pr1', log })).answer))).toEqual(['tests.test_cart.test_total']);
  });

  test('are likelier for tests near the files that the change touches', async () => {
    const asked = { commit: 'pr1', test_names: ['tests.test_cart.test_total'] };
    const [without] = (await ask(asked)).answer.claims;
    const near = (await ask({ ...asked, changed_files: ['src/cart.py', 'README.md'] })).answer;
    expect(near.compared_with.changed_files).toBe(2);
    expect(near.claims[0]?.probability).toBeGreaterThanOrEqual(without?.probability ?? 1);
    expect(near.claims[0]?.for.map(({ sentence }) => sentence)).toContain(
      'The change touches src/cart.py, near the test. Here, changes break such tests 4 times as often as others.',
    );
    const far = (await ask({ ...asked, changed_files: ['notes/a.txt'] })).answer;
    expect(far.claims[0]?.against.map(({ sign }) => sign)).toContain('changed_files');
  });

  test('are at most as many as asked for, the likeliest to be the change first', async () => {
    const { answer } = await ask({ commit: 'pr1', limit: 1 });
    expect(answer.total).toBe(3);
    expect(answer.claims.map(({ verdict }) => verdict)).toEqual(['change']);
  });

  test('of a commit that nothing is stored for are none, and of an unknown pull request 404', async () => {
    expect((await ask({ commit: 'unknown' })).answer).toMatchObject({
      total: 0,
      claims: [],
      compared_with: { runs: 0 },
    });
    expect((await ask({ pull_request: 12_345 })).status).toBe(404);
  });

  test('need one commit or pull request, and a report that can be read', async () => {
    for (const body of [
      {},
      { commit: 'pr1', pull_request: 7 },
      { commit: 'pr1', limit: 0 },
      { commit: 'pr1', limit: 101 },
      { commit: 'pr1', nothing: true },
      { commit: 'pr1', test_names: Array.from({ length: 101 }, (_, i) => `t${i}`) },
      { commit: 'pr1', log: 'x'.repeat(100_001) },
      { commit: 'pr1', report: { text: 'no report' } },
      { commit: 'pr1', report: { format: 'junit', text: '{}' } },
    ])
      expect({ body, status: (await ask(body)).status }).toEqual({ body, status: 422 });
  });
});
