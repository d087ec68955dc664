/** A test in the legs of a matrix: each has a health, and what the interface always showed adds them up. */
import { describe, expect, test } from 'bun:test';
import type { Axes } from '../../src/domain/axes.ts';
import { at, beside, type InsightsFixture, setUpInsights } from '../support/insights.ts';
import type { TestExecution } from '../support/jobs.ts';

const OLD = { os: 'linux', python: '3.12' };
const LINUX = { os: 'linux', python: '3.13' };
const WINDOWS = { os: 'windows', python: '3.13' };
const LEGS: readonly Axes[] = [OLD, LINUX, WINDOWS];
const ROUNDS = 12;

const failing = (name: string, hoursAgo: number): TestExecution => ({
  name,
  status: 'failed',
  at: at(hoursAgo),
  failures: [{ type: 'OSError', message: 'no such drive' }],
});

/** `pays` fails on Windows only, always; `adds` passes everywhere. All legs are one CI job and send one report. */
async function fill(fixture: InsightsFixture): Promise<void> {
  const jobs = Array.from({ length: ROUNDS }, (_, round) => 100 - 4 * round).flatMap((hoursAgo, round) =>
    LEGS.map((axes) =>
      fixture.run(
        [
          axes === WINDOWS ? failing('pays', hoursAgo) : { name: 'pays', at: at(hoursAgo) },
          { name: 'adds', at: at(hoursAgo) },
          ...beside(hoursAgo),
        ],
        { run_id: String(round), commit: `m${round}`, axes },
      ),
    ),
  );
  // The first runs came before the job was a matrix.
  await fixture.ingest(fixture.run([{ name: 'pays', at: at(200) }, { name: 'adds', at: at(200) }, ...beside(200)]));
  await fixture.ingest(...jobs.slice(0, 5));
  await fixture.ingest(...jobs.slice(5));
  await fixture.ingest(
    ...LEGS.map((axes) =>
      fixture.run([failing('pays', 2), failing('adds', 2), ...beside(2)], {
        ...{ branch: 'feature', base_ref: 'main', pull_request: 7, commit: 'pr', run_id: 'pull', axes },
      }),
    ),
  );
}

const { app, fixture } = ((set) => ({ app: () => set.app, fixture: () => set.fixture }))(setUpInsights(fill));

/** `pays` broke on Windows, which left the matrix three weeks ago; on Linux it passes. */
async function fillOld(fixture: InsightsFixture): Promise<void> {
  const run = (axes: Axes, hoursAgo: number, isFailing: boolean) =>
    fixture.run([isFailing ? failing('pays', hoursAgo) : { name: 'pays', at: at(hoursAgo) }, ...beside(hoursAgo)], {
      axes,
    });
  const days = [30, 29, 28, 27, 26, 25, 24, 23];
  await fixture.ingest(
    ...days.flatMap((day) => [run(WINDOWS, 24 * day, day < 28), run(LINUX, 24 * day, false)]),
    ...Array.from({ length: 20 }, (_, day) => run(LINUX, 24 * day + 1, false)),
  );
}

interface Metrics {
  health_status: string;
  health_confidence: string;
}

interface Leg {
  axes: Axes;
  health_status: string;
  executions: number;
  failed_executions: number;
}

describe('a test that fails in one leg of a matrix', () => {
  test('is broken there, healthy in the others, and as bad as the worst of them as a whole', async () => {
    const details = (await app().get(fixture().test('pays'))) as { health_status: string; legs: Leg[] };
    expect(details.health_status).toBe('broken');
    expect(details.legs.map(({ axes, health_status }) => [axes, health_status])).toEqual([
      [WINDOWS, 'broken'],
      [{}, 'healthy'],
      [OLD, 'healthy'],
      [LINUX, 'healthy'],
    ]);
    expect(details.legs.map(({ executions, failed_executions: failed }) => [executions, failed])).toEqual([
      [ROUNDS, ROUNDS],
      [1, 0],
      [ROUNDS, 0],
      [ROUNDS, 0],
    ]);
  });

  test('is one entry of a search, with the sums of its legs, also by health', async () => {
    for (const query of [{ test_name: 'pays' }, { test_name: 'pay*' }, { health_status: 'broken' }]) {
      const found = (await app().get(fixture().search(query))) as { total: number; tests: Record<string, unknown>[] };
      expect(found.total).toBe(1);
      expect(found.tests).toMatchObject([
        {
          ...{ test_name: 'pays', pipeline_name: 'CI', job_name: 'unit' },
          metrics: { health_status: 'broken', executions: 3 * ROUNDS + 1, failed_executions: ROUNDS },
        },
      ]);
    }
    const healthy = (await app().get(fixture().search({ health_status: 'healthy' }))) as { total: number };
    expect(healthy.total).toBe(41);
  });

  test('is explained in each leg', async () => {
    const { identities } = (await app().get(fixture().test('pays', '/explanation'))) as { identities: Leg[] };
    expect(identities).toHaveLength(4);
    expect(identities.find(({ axes }) => axes.os === 'windows')).toMatchObject({ health_status: 'broken' });
    expect(identities.filter(({ health_status }) => health_status === 'healthy')).toHaveLength(3);
  });

  test('is known on that leg of a pull request, and new on the others', async () => {
    const answer = (await app().get(`${fixture().base}/commits/pr/failures`)) as {
      total: number;
      failures: { test_name: string; verdict: string; evidence: object; legs: { axes: Axes; verdict: string }[] }[];
    };
    expect(answer.total).toBe(2);
    const pays = answer.failures.find(({ test_name }) => test_name === 'pays');
    expect(pays).toMatchObject({ verdict: 'new', evidence: { commit_failures: 3 } });
    expect(pays?.legs.map(({ axes, verdict }) => [verdict, axes])).toEqual(
      expect.arrayContaining([
        ['broken', WINDOWS],
        ['new', OLD],
        ['new', LINUX],
      ]),
    );
  });

  test('counts as one broken test of its repository', async () => {
    const countOf = async (stat: string) =>
      ((await app().get(`${fixture().base}/tests/stats/${stat}`)) as { value: number }).value;
    expect([await countOf('broken_tests'), await countOf('total_tests')]).toEqual([1, 42]);
  });
});

test('a leg that left the matrix says nothing of the job any more, and filters agree with what is shown', async () => {
  const old = fixture().another();
  await fillOld(old);
  const found = async (query: Record<string, string>) =>
    ((await app().get(old.search({ test_name: 'pa*', ...query }))) as { tests: { metrics: Metrics }[] }).tests;
  const [shown] = await found({});
  expect(shown?.metrics.health_status).toBe('healthy');
  const { health_confidence: confidence = '' } = shown?.metrics ?? {};
  expect(await found({ health_confidence: confidence })).toHaveLength(1);
  expect(await found({ health_confidence_exclude: confidence })).toEqual([]);
  expect(await found({ health_status: 'broken' })).toEqual([]);
  const { legs } = (await app().get(old.test('pays'))) as { legs: Leg[] };
  expect(legs.map(({ axes, health_status }) => [axes, health_status])).toEqual([
    [WINDOWS, 'broken'],
    [LINUX, 'healthy'],
  ]);
});
