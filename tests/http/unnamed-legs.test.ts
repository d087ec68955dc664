/** Reports of one job that contradict each other under the same names: legs by their order, judged apart. */
import { describe, expect, test } from 'bun:test';
import type { Axes } from '../../src/domain/axes.ts';
import type { Explanation } from '../../src/explain/explanation-schema.ts';
import type { TestAxes } from '../../src/insights/axes.ts';
import { at, beside, type InsightsFixture, setUpInsights } from '../support/insights.ts';
import type { TestExecution } from '../support/jobs.ts';

const ROUNDS = 12;
const SECOND = { unnamed_leg: '2' };

const failing = (name: string, hoursAgo: number): TestExecution => ({
  name,
  status: 'failed',
  at: at(hoursAgo),
  failures: [{ type: 'OSError', message: 'no such drive' }],
});

/** A report without axes, under one name in each run. */
const report = (fixture: InsightsFixture, round: number, executions: TestExecution[]) => ({
  ...fixture.run(executions, { run_id: String(round), commit: `m${round}` }),
  sources: [`report of ${round}`],
});

/** In each run, `pays` passes in the report that comes first, and fails in the second. */
async function fill(fixture: InsightsFixture): Promise<void> {
  for (let round = 0; round < ROUNDS; round++) {
    const hoursAgo = 100 - 4 * round;
    const rest = [{ name: 'adds', at: at(hoursAgo) }, ...beside(hoursAgo)];
    await fixture.ingest(report(fixture, round, [{ name: 'pays', at: at(hoursAgo) }, ...rest]));
    await fixture.ingest(report(fixture, round, [failing('pays', hoursAgo), ...rest]));
  }
  // Another try of what failed is no leg.
  await fixture.ingest(report(fixture, ROUNDS, [failing('tried twice', 40), ...beside(40)]));
  await fixture.ingest(report(fixture, ROUNDS, [{ name: 'tried twice', at: at(40) }]));
}

const insights = setUpInsights(fill);
const get = <T>(name: string, below = ''): Promise<T> => insights.app.get<T>(insights.fixture.test(name, below));

interface Leg {
  axes: Axes;
  health_status: string;
  executions: number;
  failed_executions: number;
}
const legsOf = async (name: string) =>
  (await get<{ legs: Leg[] }>(name)).legs.map((leg) => [
    leg.axes,
    leg.health_status,
    leg.executions,
    leg.failed_executions,
  ]);

describe('a job whose second report contradicts the first', () => {
  test('has a broken test in the second leg and a healthy one in the first', async () => {
    expect(await legsOf('pays')).toEqual([
      [SECOND, 'broken', ROUNDS, ROUNDS],
      [{}, 'healthy', ROUNDS, 0],
    ]);
    expect((await get<{ health_status: string }>('pays')).health_status).toBe('broken');
  });

  test('counts what agrees in both legs', async () => {
    expect(await legsOf('adds')).toEqual([
      [{}, 'healthy', ROUNDS, 0],
      [SECOND, 'healthy', ROUNDS, 0],
    ]);
  });

  test('is explained in each leg, and the second is named by its number where it fails', async () => {
    const { identities } = await get<Explanation>('pays', '/explanation');
    expect(identities.map(({ axes }) => axes)).toEqual(expect.arrayContaining([{}, SECOND]));
    const { fails_with: failsWith } = await get<TestAxes>('pays', '/axes');
    expect(failsWith?.sentence).toBe('Fails only with leg 2 (unnamed).');
  });
});

test('a test that fails and passes on another try of what failed has one leg', async () => {
  expect(await legsOf('tried twice')).toEqual([[{}, expect.any(String), 2, 1]]);
});
