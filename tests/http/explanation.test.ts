/** The explanation of a test over REST, and that it agrees with what other reads say. */
import { expect, test } from 'bun:test';
import { testIdOf } from '../../src/domain/identity.ts';
import type { Explanation } from '../../src/evaluation/explanation.ts';
import { TEST_NOW } from '../support/clock.ts';
import { at, ingestHistory, iso, NAME, setUpInsights } from '../support/insights.ts';

const insights = setUpInsights(ingestHistory);

const explained = (name: string, query: Record<string, string> = {}) =>
  insights.app.get<Explanation>(insights.fixture.test(name, '/explanation', query));

test('names for each identity its health, the rule, and the executions that decided, with run, commit and job', async () => {
  const explanation = await explained(NAME);
  expect(explanation).toMatchObject({
    test_id: testIdOf(insights.fixture.id, NAME),
    test_name: NAME,
    as_of: null,
    health_status: 'broken',
    is_complete: true,
    quarantines: [],
  });
  expect(explanation.identities).toMatchObject([
    {
      pipeline_name: 'CI',
      job_name: 'unit',
      health_status: 'broken',
      is_recent: true,
      executions_count: 4,
      flaky_count: 0,
      held_back_count: 0,
      changes_count: 1,
      held_back: [],
      troubled_runs: [],
    },
  ]);
  expect(explanation.identities[0]?.changes).toEqual([
    {
      from: 'healthy',
      to: 'broken',
      rule: 'failed',
      executions: [
        {
          status: 'failed',
          finished_at: iso(at(40)),
          received_at: iso(TEST_NOW),
          is_stored_later: false,
          run_id: '2',
          run_attempt: 1,
          commit: 'b2',
          job_url: 'https://ci/1',
        },
      ],
    },
  ]);
});

test('as of a moment it knows only what had finished by then, and says what was stored later', async () => {
  const before = await explained(NAME, { as_of: iso(at(45)) });
  expect(before).toMatchObject({ as_of: iso(at(45)), health_status: 'healthy' });
  expect(before.identities).toMatchObject([{ executions_count: 1, changes: [] }]);
  const after = await explained(NAME, { as_of: iso(at(35)) });
  expect(after.identities[0]?.changes[0]?.executions).toMatchObject([{ is_stored_later: true }]);
  expect(await explained(NAME, { as_of: iso(at(60)) })).toMatchObject({ health_status: 'healthy', identities: [] });
});

test('its health is the one that details and search show', async () => {
  for (const name of [NAME, 'flaky', 'only skipped']) {
    const { health_status } = await insights.app.get<{ health_status: string }>(insights.fixture.test(name));
    expect([name, (await explained(name)).health_status as string]).toEqual([name, health_status]);
  }
});

test('names troubled runs, and what is held back because of them, with the reason', async () => {
  const { fixture } = insights;
  const troubled = fixture.another();
  const names = Array.from({ length: 12 }, (_, i) => `test ${i}`);
  await troubled.ingest(
    troubled.run(names.map((name) => ({ name, at: at(9) }))),
    troubled.run(
      names.map((name) => ({ name, at: at(8), status: 'failed' })),
      { commit: 'outage' },
    ),
    troubled.run(names.map((name) => ({ name, at: at(7) }))),
  );
  const { identities } = await insights.app.get<Explanation>(troubled.test('test 3', '/explanation'));
  const reason = 'at least 90 % of the run failed, among it 10 tests or more that had passed before';
  expect(identities).toMatchObject([
    {
      health_status: 'healthy',
      held_back_count: 1,
      held_back: [
        {
          execution: { commit: 'outage', run_id: '2' },
          trouble: 'total',
          reason: `${reason}; no later run confirmed it`,
        },
      ],
      troubled_runs: [{ day: iso(at(8)).slice(0, 10), run_id: '2', run_attempt: 1, trouble: 'total', reason }],
    },
  ]);
});

test('an unknown test is 404, a moment without a zone 422', async () => {
  const { app, fixture } = insights;
  expect((await app.request(fixture.test('never seen', '/explanation'))).status).toBe(404);
  expect((await app.request(fixture.test('only in a pull request', '/explanation'))).status).toBe(404);
  expect((await app.request(fixture.test(NAME, '/explanation', { as_of: '2026-11-21' }))).status).toBe(422);
});
