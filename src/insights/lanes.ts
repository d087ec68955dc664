/** Which pipeline, CI job, leg, runner, region or hour fails more than its peers. */
import type { AnyElysia } from 'elysia';
import { z } from 'zod';
import { defineQuery } from '../clickhouse/query.ts';
import { axesOf } from '../domain/axes.ts';
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
import { type Http, mount } from '../http/operation.ts';
import { branchesParameter, enumParameter } from '../http/parameters.ts';
import { onPostgres } from '../postgres/client.ts';
import type { Repository } from '../postgres/repositories.ts';
import { readTests } from '../postgres/tests.ts';
import * as common from './common.ts';
import { LONG_WINDOW_DAYS, longWindow, longWindowParameters } from './window.ts';

/** So many lanes are listed, those with the most runs. */
const LANES_MAX = 500;
/** Only of lanes that fail more often it is asked which tests failed; more of them at once mean that the comparison is wrong. */
const EXPLAINED_MAX = 50;
const TESTS_MAX = 3;

const laneFields = { pipeline_name: z.string(), job_name: z.string(), axes: z.string(), value: z.string() };
const ofWindow = {
  repository_id: 'UUID',
  kind: 'String',
  start_ms: 'Int64',
  end_ms: 'Int64',
  branches: 'Array(String)',
} as const;
const laneRow = z.object({
  ...laneFields,
  is_unknown: z.union([z.boolean(), z.int()]).transform(Boolean),
  runs: z.int(),
  red: z.int(),
  days: z.array(
    z.object({
      runs: z.int(),
      red: z.int(),
      comparedRuns: z.int(),
      comparedRed: z.int(),
      expected: z.number(),
      own: z.number(),
    }),
  ),
});
type LaneRow = z.infer<typeof laneRow>;
const lanesQuery = defineQuery('insights/lanes', { ...ofWindow, rows: 'UInt32' }, laneRow);

const testsRow = z.object({
  ...laneFields,
  failed_tests: z.int(),
  /** Those with a larger part of the red runs than its peers give it. */
  tests_beyond: z.int(),
  /** Red runs beyond what its peers have. */
  red_beyond: z.number(),
  tests: z.array(z.object({ testId: z.string(), share: z.number(), beyond: z.number() })),
});
const laneTests = defineQuery(
  'insights/lane_tests',
  {
    ...ofWindow,
    pipelines: 'Array(String)',
    jobs: 'Array(String)',
    axes: 'Array(String)',
    values: 'Array(String)',
    tests: 'UInt32',
  },
  testsRow,
);

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

export function mountLanes(app: AnyElysia, http: Http, deps: common.InsightsDeps): void {
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
      const found = asked ? await readLanes(deps, asked, signal) : { lanes: [], unknown: 0, isComplete: true };
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
  deps: common.InsightsDeps,
  asked: Asked,
  signal: AbortSignal | undefined,
): Promise<{ lanes: LaneJson[]; unknown: number; isComplete: boolean }> {
  const { repository, kind, start, end, branches } = asked;
  const owned = { owner: repository.owner, ...(signal && { signal }) };
  const values = { repository_id: repository.id, kind, start_ms: start, end_ms: end, branches };
  // One for those that say nothing, and one to see whether there are more.
  const rows = await deps.clickhouse.select(lanesQuery, { ...values, rows: LANES_MAX + 2 }, owned);
  const unknown = rows.find((row) => row.is_unknown)?.runs ?? 0;
  const known = rows.filter((row) => !row.is_unknown);
  const listed = known.slice(0, LANES_MAX);
  const compared = compareLanes(listed.map(({ days }) => days));
  const lanes = listed.map((row, i) => ({ row, compared: compared[i] ?? NOTHING }));
  const more = lanes.filter((lane) => lane.compared.differs === 'more').slice(0, EXPLAINED_MAX);
  const explained =
    more.length === 0
      ? []
      : await deps.clickhouse.select(
          laneTests,
          {
            ...values,
            pipelines: more.map(({ row }) => row.pipeline_name),
            jobs: more.map(({ row }) => row.job_name),
            axes: more.map(({ row }) => row.axes),
            values: more.map(({ row }) => row.value),
            tests: TESTS_MAX,
          },
          owned,
        );
  const ids = [...new Set(explained.flatMap(({ tests }) => tests.map(({ testId }) => testId)))];
  const records = ids.length === 0 ? [] : await onPostgres(() => readTests(deps.db, repository.id, ids));
  const names = new Map(records.map(({ testId, name }) => [testId, name]));
  const byLane = new Map(explained.map((row) => [keyOf(row), row]));
  return {
    lanes: lanes
      .sort((one, other) => rankOf(one) - rankOf(other) || shareOf(other.row) - shareOf(one.row))
      .map(({ row, compared: result }) => laneJson(kind, row, result, byLane.get(keyOf(row)), names)),
    unknown,
    isComplete: known.length <= LANES_MAX,
  };
}

const NOTHING: ComparedLane = { differs: null, timesAsOften: null };
const keyOf = (lane: Pick<LaneRow, 'pipeline_name' | 'job_name' | 'axes' | 'value'>): string =>
  JSON.stringify([lane.pipeline_name, lane.job_name, lane.axes, lane.value]);
const rankOf = ({ compared }: { compared: ComparedLane }): number => (compared.differs === 'more' ? 0 : 1);
const shareOf = ({ red, runs }: Pick<LaneRow, 'red' | 'runs'>): number => red / runs;

function laneJson(
  kind: LaneKind,
  row: LaneRow,
  { differs, timesAsOften }: ComparedLane,
  explained: z.infer<typeof testsRow> | undefined,
  names: ReadonlyMap<string, string>,
): LaneJson {
  const isOf = (...kinds: readonly LaneKind[]): boolean => kinds.includes(kind);
  const blame: Blame = explained
    ? blameOf({
        red: explained.red_beyond,
        tests: explained.tests_beyond,
        most: explained.tests[0]?.beyond ?? 0,
      })
    : null;
  return {
    pipeline_name: isOf('pipeline', 'job', 'leg') ? row.pipeline_name : null,
    job_name: isOf('job', 'leg') ? row.job_name : null,
    axes: isOf('leg') ? axesOf(row.axes) : null,
    runner: isOf('runner') ? row.value : null,
    region: isOf('region') ? row.value : null,
    hour: isOf('hour') ? Number(row.value) : null,
    runs: row.runs,
    red_runs: row.red,
    red_share: shareOf(row),
    times_as_often: timesAsOften,
    differs,
    to_blame: blame,
    failed_tests: explained?.failed_tests ?? null,
    tests: (explained?.tests ?? []).map(({ testId, share }) => ({
      test_id: testId,
      test_name: names.get(testId) ?? null,
      red_runs_share: share,
    })),
  };
}
