/** Lanes, as the service counts them and as the rule compares them. */
import { describe, expect, test } from 'bun:test';
import { compareLanes, type LaneDay } from '../../src/domain/lanes.ts';
import { DAY_MS, HOUR_MS } from '../../src/domain/time.ts';
import { TEST_NOW } from '../support/clock.ts';
import { type InsightsFixture, iso, setUpInsights } from '../support/insights.ts';
import { randomFrom } from '../support/random.ts';

interface Lane {
  pipeline_name: string | null;
  job_name: string | null;
  axes: Record<string, string> | null;
  runner: string | null;
  region: string | null;
  hour: number | null;
  runs: number;
  red_runs: number;
  red_share: number;
  times_as_often: number | null;
  differs: string | null;
  to_blame: string | null;
  failed_tests: number | null;
  tests: { test_name: string; red_runs_share: number }[];
}
interface Lanes {
  runs: number;
  red_runs: number;
  unknown_runs: number;
  is_complete: boolean;
  lanes: Lane[];
}

interface Run {
  at: number;
  branch: string;
  pipeline: string;
  job: string;
  os: string;
  runner: string;
  region: string;
  failed: string[];
}

const DAYS = 12;
const midnight = Math.floor(TEST_NOW / DAY_MS) * DAY_MS;
const random = randomFrom(11);
const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;

/** One runner fails in half of its runs, each time another test; one leg always fails in the same test. */
const runs: Run[] = Array.from({ length: 900 }, (_, i) => {
  const [runner, os, job] = [pick(['a', 'b', 'c', 'd', '']), pick(['linux', 'windows']), pick(['unit', 'e2e'])];
  const isIll = random() < (runner === 'c' ? 0.5 : 0.03);
  return {
    // Some begin just before midnight and end after it.
    at: midnight - (1 + (i % DAYS)) * DAY_MS + Math.floor(random() * 24) * HOUR_MS + 59.9 * 60_000,
    branch: pick(['main', 'topic']),
    pipeline: pick(['CI', 'CI', 'Nightly']),
    ...{ job, os, runner, region: runner === 'a' || runner === 'b' ? 'east' : '' },
    failed: [...(isIll ? [`test ${i % 40}`] : []), ...(os === 'windows' && job === 'e2e' ? ['long path'] : [])],
  };
});

const NAMES = [...Array.from({ length: 40 }, (_, i) => `test ${i}`), 'long path'];

async function fill(fixture: InsightsFixture): Promise<void> {
  // On the default branch everything ran once, so that each test is known.
  const known = fixture.run(
    NAMES.map((name) => ({ name, at: midnight - 30 * DAY_MS })),
    { pipeline_name: 'first' },
  );
  await fixture.ingest(
    known,
    ...runs.map(({ at, branch, pipeline, job, os, runner, region, failed }) => {
      const place = { ...(runner && { runner }), ...(region && { region }) };
      return fixture.run(
        [
          { name: 'steady', at },
          // Of the next day: the run counts once, on the day on which it began.
          { name: 'late', at: at + 10 * 60_000 },
          ...failed.map((name) => ({ name, at, status: 'failed' as const, failures: [{ message: 'no' }] })),
        ],
        {
          branch,
          pipeline_name: pipeline,
          job_name: job,
          axes: { os },
          ...(Object.keys(place).length > 0 && { place }),
        },
      );
    }),
    // Nothing ran in it.
    fixture.run([{ name: 'steady', at: midnight - DAY_MS, status: 'skipped' }], { place: { runner: 'idle' } }),
  );
}

const insights = setUpInsights(fill);
const WINDOW = `start=${iso(midnight - DAYS * DAY_MS)}&end=${iso(midnight)}`;
const read = (query: string) => insights.app.get<Lanes>(`${insights.fixture.base}/lanes?${WINDOW}&${query}`);

type Kind = 'pipeline' | 'job' | 'leg' | 'runner' | 'region' | 'hour';
const hourOf = ({ at }: Run): string => String(new Date(at).getUTCHours());
const LANE: Record<Kind, (run: Run) => string[]> = {
  pipeline: ({ pipeline }) => [pipeline],
  job: ({ pipeline, job }) => [pipeline, job],
  leg: ({ pipeline, job, os }) => [pipeline, job, os],
  runner: ({ runner }) => [runner],
  region: ({ region }) => [region],
  hour: (run) => [hourOf(run)],
};
const leg = ({ pipeline, job, os }: Run): string[] => [pipeline, job, os];
const PEERS: Record<Kind, (run: Run) => string[]> = {
  pipeline: () => [],
  job: ({ pipeline }) => [pipeline],
  leg: ({ pipeline, job }) => [pipeline, job],
  runner: leg,
  region: leg,
  hour: leg,
};
const nameOf = (lane: Lane): string =>
  JSON.stringify(
    [lane.pipeline_name, lane.job_name, lane.axes?.os, lane.runner, lane.region, lane.hour?.toString()].filter(
      (one) => one !== null && one !== undefined,
    ),
  );

/** The rule on the runs themselves. */
function expected(kind: Kind, of: readonly Run[]) {
  const named = of.filter((run) => LANE[kind](run).every((part) => part !== ''));
  const days = new Map<string, LaneDay[]>();
  const ofDays = Map.groupBy(named, ({ at }) => Math.floor(at / DAY_MS));
  for (const ofDay of ofDays.values()) {
    const groups = Map.groupBy(ofDay, (run) => JSON.stringify(PEERS[kind](run)));
    for (const [lane, ran] of Map.groupBy(ofDay, (run) => JSON.stringify(LANE[kind](run)))) {
      const day = {
        runs: ran.length,
        red: ran.filter(isRed).length,
        comparedRuns: 0,
        comparedRed: 0,
        expected: 0,
        own: 0,
      };
      for (const [group, mine] of Map.groupBy(ran, (run) => JSON.stringify(PEERS[kind](run)))) {
        const all = groups.get(group) ?? [];
        if (all.length === mine.length) continue;
        const [n, r, m, o] = [all.length, all.filter(isRed).length, mine.length, mine.filter(isRed).length];
        day.comparedRuns += m;
        day.comparedRed += o;
        day.expected += (m * r) / n;
        day.own += (o * (n - m)) / n;
      }
      days.set(lane, [...(days.get(lane) ?? []), day]);
    }
  }
  const compared = compareLanes([...days.values()]);
  return new Map([...days.keys()].map((lane, i) => [lane, { days: days.get(lane) ?? [], compared: compared[i] }]));
}
const isRed = ({ failed }: Run): boolean => failed.length > 0;
const sum = (of: readonly LaneDay[], value: (day: LaneDay) => number): number =>
  of.reduce((all, day) => all + value(day), 0);

describe('lanes', () => {
  test.each(['pipeline', 'job', 'leg', 'runner', 'region', 'hour'] as const)(
    'by %s are those of the rule',
    async (kind) => {
      for (const branch of [[], ['main']]) {
        const of = runs.filter((run) => branch.length === 0 || branch.includes(run.branch));
        const answer = await read(`by=${kind}${branch.map((one) => `&branch=${one}`).join('')}`);
        const wanted = expected(kind, of);
        expect(answer.lanes.map(nameOf).sort()).toEqual([...wanted.keys()].sort());
        for (const lane of answer.lanes) {
          const found = wanted.get(nameOf(lane));
          expect([lane.runs, lane.red_runs]).toEqual([
            sum(found?.days ?? [], (day) => day.runs),
            sum(found?.days ?? [], (day) => day.red),
          ]);
          expect(lane.red_share).toBeCloseTo(lane.red_runs / lane.runs, 9);
          expect(lane.differs).toBe(found?.compared?.differs ?? null);
          if (found?.compared?.timesAsOften == null) expect(lane.times_as_often).toBeNull();
          else expect(lane.times_as_often).toBeCloseTo(found.compared.timesAsOften, 6);
        }
        const named = of.filter((run) => LANE[kind](run).every((part) => part !== ''));
        expect(answer).toMatchObject({
          runs: named.length,
          red_runs: named.filter(isRed).length,
          unknown_runs: of.length - named.length,
          is_complete: true,
        });
      }
    },
  );

  test('the runner that fails more is first, and no test is to blame', async () => {
    const { lanes } = await read('');
    expect(lanes.map(({ runner, differs }) => [runner, differs === 'more'])[0]).toEqual(['c', true]);
    expect(lanes.filter(({ differs }) => differs === 'more')).toHaveLength(1);
    expect(lanes[0]).toMatchObject({ to_blame: 'no test', pipeline_name: null, hour: null });
    expect(lanes[0]?.tests).toHaveLength(3);
    expect(lanes[0]?.failed_tests).toBeGreaterThan(20);
  });

  test('of the leg that fails more, its test is to blame', async () => {
    const { lanes } = await read('by=leg');
    expect(lanes[0]).toMatchObject({ job_name: 'e2e', axes: { os: 'windows' }, differs: 'more', to_blame: 'test' });
    expect(lanes[0]?.tests[0]?.test_name).toBe('long path');
    const total = runs.filter(
      (run) => run.pipeline === lanes[0]?.pipeline_name && run.job === 'e2e' && run.os === 'windows',
    );
    expect(lanes[0]?.tests[0]?.red_runs_share).toBeCloseTo(
      total.reduce((all, { failed }) => all + 1 / failed.length, 0),
      9,
    );
  });

  test('of a repository without runs, or a window without any, there are none', async () => {
    expect((await insights.app.get<Lanes>('/v1/ci/no/repositories/such/lanes')).lanes).toEqual([]);
    const empty = await insights.app.get<Lanes>(
      `${insights.fixture.base}/lanes?start=2020-01-01T00:00:00Z&end=2020-01-02T00:00:00Z`,
    );
    expect(empty).toMatchObject({ lanes: [], runs: 0, unknown_runs: 0 });
  });

  test('a window that is too long or empty, and a kind that is none, are refused', async () => {
    const refused = async (query: string) =>
      (await insights.app.request(`${insights.fixture.base}/lanes?${query}`)).status;
    expect(await refused('start=2026-01-01T00:00:00Z&end=2026-08-01T00:00:00Z')).toBe(422);
    expect(await refused('start=2026-02-01T00:00:00Z&end=2026-01-01T00:00:00Z')).toBe(422);
    expect(await refused('by=moon')).toBe(422);
  });
});
