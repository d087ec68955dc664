/** Which pipeline, CI job, leg, runner, region or hour fails more than its peers. */
import type { AnyElysia } from 'elysia';
import { z } from 'zod';
import { defineQuery } from '../clickhouse/query.ts';
import { axesOf } from '../domain/axes.ts';
import {
  isUnplaced,
  type Lane,
  type LaneTests,
  laneKey,
  lanesOf,
  type PlacedRedRun,
  type PlacedRuns,
  testsOfLanes,
} from '../domain/lane-days.ts';
import {
  type Blame,
  blameOf,
  CHANCE_MAX,
  type ComparedLane,
  compareLanes,
  LANE_KINDS,
  type LaneKind,
  TIMES_MIN,
} from '../domain/lanes.ts';
import { formatMoment } from '../domain/moment.ts';
import type { Turn } from '../fair-queue.ts';
import { type Http, mount } from '../http/operation.ts';
import { branchesParameter, enumParameter } from '../http/parameters.ts';
import { onPostgres } from '../postgres/client.ts';
import type { Repository } from '../postgres/repositories.ts';
import { readTests } from '../postgres/tests.ts';
import * as common from './common.ts';
import { DayValues } from './day-values.ts';
import type { RedRun, RunDays } from './run-days.ts';
import { LONG_WINDOW_DAYS, longWindow, longWindowParameters } from './window.ts';

/** So many lanes are listed, those with the most runs. */
const LANES_MAX = 500;
/** Only of lanes that fail more often it is asked which tests failed; more of them at once mean that the comparison is wrong. */
const EXPLAINED_MAX = 50;
const TESTS_MAX = 3;

const lanesQuery = defineQuery(
  'insights/lanes',
  { repository_id: 'UUID', kind: 'String', start_ms: 'Int64', end_ms: 'Int64', branches: 'Array(String)' },
  z.object({
    run_day: z.int(),
    pipeline_name: z.string(),
    job_name: z.string(),
    axes: z.string(),
    value: z.string(),
    starts: z.array(z.int()),
    red_starts: z.array(z.int()),
  }),
);
type PlacedRow = z.output<(typeof lanesQuery)['row']>;
/** Kinds of the same value share their days. */
const VALUE_OF = {
  pipeline: '',
  job: '',
  leg: '',
  runner: 'runner',
  region: 'region',
  hour: 'hour',
} as const satisfies Record<LaneKind, string>;
/** Each kind of value of a repository with 300,000 runs takes 3 MB, and its rows. */
const BYTES_MAX = 32_000_000;
const ROW_BYTES = 300;

const count = (description: string, example: number) => z.int().meta({ description, example });
const laneSchema = z
  .object({
    pipeline_name: common.pipelineNameOut.nullable(),
    job_name: common.jobNameOut.nullable(),
    axes: common.axesOut.nullable(),
    runner: z.string().nullable().meta({ example: 'runner-3' }),
    region: z.string().nullable().meta({ example: 'eu-west' }),
    hour: z.int().min(0).max(23).nullable().meta({ description: 'Of the day, in UTC', example: 14 }),
    runs: count('Runs, each attempt of each leg once', 240),
    red_runs: count('Those in which a test failed', 36),
    red_share: z.number().meta({ example: 0.15 }),
    times_as_often: z.number().nullable().meta({
      description:
        'How often it fails compared with its peers: 8 is eight times as often. Null without peers, or if none of them failed',
      example: 8.2,
    }),
    differs: z
      .enum(['more', 'less'])
      .nullable()
      .meta({
        description: `Whether it fails more, or less often than its peers. Null: the difference is less than ${TIMES_MIN} times, or chance explains it`,
        example: 'more',
      }),
    to_blame: z.enum(['test', 'no test']).nullable().meta({
      description:
        'Of a lane that fails more often, by its red runs beyond those of the others. `test`: at least half of them are of one test; `no test`: they are of many, so it is the lane itself. Null: neither is clear',
      example: 'no test',
    }),
    failed_tests: z.int().nullable().meta({
      description: 'Of a lane that fails more often: how many tests failed on it',
      example: 21,
    }),
    tests: z
      .array(
        z.object({
          test_id: common.testIdOut,
          test_name: common.testNameOut.nullable(),
          red_runs_share: z.number().meta({
            description: 'Its part of the red runs of the lane: a run with four failed tests gives each a quarter',
            example: 2.25,
          }),
        }),
      )
      .meta({
        description: `Of a lane that fails more often: up to ${TESTS_MAX} tests, those that fail on it most beyond what they do on others`,
      }),
  })
  .meta({ id: 'Lane' });
const response = z.object({
  by: z.enum(LANE_KINDS),
  start: common.dateTimeOut,
  end: common.dateTimeOut,
  runs: count('Runs of the listed lanes', 2_400),
  red_runs: count('Red runs of the listed lanes', 72),
  unknown_runs: count('Runs that did not say their runner or region', 0),
  is_complete: z.boolean().meta({ description: `False: there are more than ${LANES_MAX} lanes`, example: true }),
  lanes: z.array(laneSchema),
});
export type LaneList = z.output<typeof response>;

interface Asked {
  repository: Repository;
  kind: LaneKind;
  start: number;
  end: number;
  branches: string[];
}

type LaneDeps = common.InsightsDeps & { runDays: RunDays };
type PlacedDays = DayValues<PlacedRow[]>;

export function mountLanes(app: AnyElysia, http: Http, deps: LaneDeps): void {
  const placedDays: PlacedDays = new DayValues(deps.clickhouse, {
    bytesMax: BYTES_MAX,
    bytesOf: (rows) => rows.reduce((sum, row) => sum + ROW_BYTES + 8 * (row.starts.length + row.red_starts.length), 0),
  });
  mount(app, http, 'GET', '/v1/ci/:owner/repositories/:repository/lanes', {
    operationId: 'listLanes',
    tag: common.TAG,
    summary: 'List lanes: which pipeline, CI job, leg, runner, region or hour fails more',
    description: `How often runs are red, on each lane of one kind, with those that fail more or less often than their peers. Runs are compared with those of the same day that differ in nothing else: runners with others on the same leg, legs with others of the CI job. At most one list in ${1 / CHANCE_MAX} names one that is like the others. First those that fail more, then the reddest. The window is at most ${LONG_WINDOW_DAYS} days.`,
    access: 'read',
    params: common.shortPath,
    query: {
      by: enumParameter(LANE_KINDS, { description: 'The kind of lane; defaults to runner.', example: 'runner' }),
      branch: branchesParameter({ description: 'Only runs of these branches.', example: ['main'] }),
      ...longWindowParameters(),
    },
    responses: { 200: { description: 'The lanes.', schema: response } },
    isCoalesced: true,
    handle: async ({ params: path, query, signal }) => {
      const { start, end } = longWindow(query, deps.clock.now());
      const kind = query.by ?? 'runner';
      const repository = await deps.repositories.find(path.owner, path.repository);
      const asked = repository && { repository, kind, start, end, branches: query.branch };
      const found = asked
        ? await readLanes(deps, placedDays, asked, signal)
        : { lanes: [], unknown: 0, isComplete: true };
      return {
        body: {
          by: kind,
          start: formatMoment(start),
          end: formatMoment(end),
          runs: found.lanes.reduce((sum, { runs }) => sum + runs, 0),
          red_runs: found.lanes.reduce((sum, lane) => sum + lane.red_runs, 0),
          unknown_runs: found.unknown,
          is_complete: found.isComplete,
          lanes: found.lanes,
        },
      };
    },
  });
}

type LaneJson = z.input<typeof laneSchema>;

async function readLanes(
  deps: LaneDeps,
  placedDays: PlacedDays,
  asked: Asked,
  signal: AbortSignal | undefined,
): Promise<{ lanes: LaneJson[]; unknown: number; isComplete: boolean }> {
  const { repository, kind } = asked;
  const turn = { owner: repository.owner, ...(signal && { signal }) };
  const days = await readPlacedRuns(deps, placedDays, asked, turn);
  const unknown = days.flat().reduce((sum, placed) => sum + (isUnplaced(kind, placed) ? placed.runs : 0), 0);
  const known = lanesOf(kind, days).sort((one, other) => other.runs - one.runs || compareLaneKeys(one, other));
  const listed = known.slice(0, LANES_MAX);
  const compared = compareLanes(listed.map((lane) => lane.days));
  const lanes = listed.map((lane, i) => ({ lane, compared: compared[i] ?? NOTHING }));
  const more = lanes.filter((one) => one.compared.differs === 'more').slice(0, EXPLAINED_MAX);
  const explained =
    more.length === 0
      ? new Map<string, LaneTests>()
      : testsOfLanes(
          kind,
          days,
          await readRedRuns(deps, asked, turn),
          more.map(({ lane }) => lane.place),
        );
  const ids = [
    ...new Set([...explained.values()].flatMap(({ tests }) => tests.slice(0, TESTS_MAX).map(({ testId }) => testId))),
  ];
  const records = ids.length === 0 ? [] : await onPostgres(() => readTests(deps.db, repository.id, ids));
  const names = new Map(records.map(({ testId, name }) => [testId, name]));
  return {
    lanes: lanes
      .sort((one, other) => rankOf(one) - rankOf(other) || shareOf(other.lane) - shareOf(one.lane))
      .map(({ lane, compared: result }) => laneJson(kind, lane, result, explained.get(laneKey(lane.place)), names)),
    unknown,
    isComplete: known.length <= LANES_MAX,
  };
}

/** By day, what began within the window. */
async function readPlacedRuns(
  { clickhouse }: LaneDeps,
  placedDays: PlacedDays,
  { repository, kind, start, end, branches }: Asked,
  turn: Turn,
): Promise<PlacedRuns[][]> {
  const value = VALUE_OF[kind];
  const asked = { repository, filters: [value, ...branches], window: { start, end }, turn };
  const days = await placedDays.of(asked, async (span) => {
    const values = { repository_id: repository.id, kind: value, start_ms: span.start, end_ms: span.end, branches };
    return Map.groupBy(await clickhouse.select(lanesQuery, values, turn), ({ run_day: day }) => day);
  });
  const within = (starts: readonly number[]): number =>
    starts.reduce((sum, at) => sum + (at >= start && at < end ? 1 : 0), 0);
  return days.map((rows) =>
    rows.flatMap((row) => {
      const runs = within(row.starts);
      if (runs === 0) return [];
      const leg = { pipelineName: row.pipeline_name, jobName: row.job_name, axes: row.axes };
      return [{ ...leg, value: row.value, runs, red: within(row.red_starts) }];
    }),
  );
}

async function readRedRuns(
  { runDays }: LaneDeps,
  { repository, kind, start, end, branches }: Asked,
  turn: Turn,
): Promise<PlacedRedRun[]> {
  const days = await runDays.of(repository, { start, end, branches }, turn);
  return days.flatMap(({ red }) =>
    red
      .filter(({ costly: { startedAt } }) => startedAt >= start && startedAt < end)
      .map((run) => ({ ...run, value: valueOfRun(kind, run), tests: run.costly.tests })),
  );
}

function valueOfRun(kind: LaneKind, { runner, region, costly }: RedRun): string {
  switch (VALUE_OF[kind]) {
    case 'runner':
      return runner;
    case 'region':
      return region;
    case 'hour':
      return String(new Date(costly.startedAt).getUTCHours());
    case '':
      return '';
  }
}

const NOTHING: ComparedLane = { differs: null, timesAsOften: null };
const compareLaneKeys = (one: Lane, other: Lane): number => (laneKey(one.place) < laneKey(other.place) ? -1 : 1);
const rankOf = ({ compared }: { compared: ComparedLane }): number => (compared.differs === 'more' ? 0 : 1);
const shareOf = ({ red, runs }: Pick<Lane, 'red' | 'runs'>): number => red / runs;

function laneJson(
  kind: LaneKind,
  { place, ...lane }: Lane,
  { differs, timesAsOften }: ComparedLane,
  explained: LaneTests | undefined,
  names: ReadonlyMap<string, string>,
): LaneJson {
  const isOf = (...kinds: readonly LaneKind[]): boolean => kinds.includes(kind);
  const blame: Blame = explained
    ? blameOf({
        red: explained.redBeyond,
        tests: explained.testsBeyond,
        most: explained.tests[0]?.beyond ?? 0,
      })
    : null;
  return {
    pipeline_name: isOf('pipeline', 'job', 'leg') ? place.pipelineName : null,
    job_name: isOf('job', 'leg') ? place.jobName : null,
    axes: isOf('leg') ? axesOf(place.axes) : null,
    runner: isOf('runner') ? place.value : null,
    region: isOf('region') ? place.value : null,
    hour: isOf('hour') ? Number(place.value) : null,
    runs: lane.runs,
    red_runs: lane.red,
    red_share: shareOf(lane),
    times_as_often: timesAsOften,
    differs,
    to_blame: blame,
    failed_tests: explained?.failedTests ?? null,
    tests: (explained?.tests ?? []).slice(0, TESTS_MAX).map(({ testId, share }) => ({
      test_id: testId,
      test_name: names.get(testId) ?? null,
      red_runs_share: share,
    })),
  };
}
