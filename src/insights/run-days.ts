/** The runs of a repository by day, with what came after each red one: read once for red runs, their list, their cost and lanes. */
import { z } from 'zod';
import { defineQuery } from '../clickhouse/query.ts';
import { type CostlyRun, runKeyOf } from '../domain/cost.ts';
import { type Leg, legKey } from '../domain/test-identity.ts';
import type { Turn } from '../fair-queue.ts';
import type { Repository } from '../postgres/repositories.ts';
import type { InsightsDeps } from './common.ts';
import { type Days, DayValues } from './day-values.ts';

/** A repository with 36,000 red runs of two tests in 90 days takes 30 MB. */
const BYTES_MAX = 64_000_000;
const RED_BYTES = 700;
const TEST_BYTES = 60;

/** The columns that name a run. */
export const namedRun = z.object({
  pipeline_name: z.string(),
  job_name: z.string(),
  axes: z.string(),
  run_id: z.string(),
  run_attempt: z.int(),
  commit_sha: z.string(),
  on_default: z.union([z.boolean(), z.int()]).transform(Boolean),
});

const ofDays = { repository_id: 'UUID', start_ms: 'Int64', end_ms: 'Int64', branches: 'Array(String)' } as const;
const redRuns = defineQuery(
  'insights/red_runs',
  ofDays,
  namedRun
    .extend({
      began_ms: z.int(),
      ended_ms: z.int(),
      pull: z.int(),
      run_day: z.int(),
      passes: z.int(),
      tests: z.array(z.string()),
      runner: z.string(),
      region: z.string(),
      rerun_ms: z.int(),
      green_ms: z.int(),
      always_failed: z.array(z.string()),
    })
    .transform((row) => {
      const leg: Leg = { pipelineName: row.pipeline_name, jobName: row.job_name, axes: row.axes };
      const pullRequest = row.pull || null;
      const costly: Omit<CostlyRun, 'reason'> = {
        key: runKeyOf(row),
        pipelineName: row.pipeline_name,
        jobName: row.job_name,
        startedAt: row.began_ms,
        endedAt: row.ended_ms,
        tests: row.tests,
        pullRequest,
        commit: row.commit_sha,
        change: row.on_default ? null : pullRequest === null ? row.commit_sha : `#${pullRequest}`,
        rerunMs: row.rerun_ms < 0 ? null : row.rerun_ms,
        greenAt: row.green_ms || null,
      };
      return {
        ...leg,
        costly,
        runId: row.run_id,
        day: row.run_day,
        judgedKey: judgedKeyOf({ ...leg, day: row.run_day, runId: row.run_id, runAttempt: row.run_attempt }),
        isOnDefault: row.on_default,
        passed: row.passes,
        // Of most runs, all tests that failed or none.
        alwaysFailed: row.always_failed.length === row.tests.length ? row.tests : row.always_failed,
        runner: row.runner,
        region: row.region,
      };
    }),
);
/** A red run, and what its reason follows from. */
export type RedRun = z.output<(typeof redRuns)['row']>;

const runDays = defineQuery(
  'insights/run_days',
  ofDays,
  z.object({
    day_number: z.int(),
    starts: z.array(z.int()),
    default_starts: z.array(z.int()),
    outside: z.array(z.object({ began_ms: z.int(), next_ms: z.int() })),
  }),
);
type DayRow = z.output<(typeof runDays)['row']>;

/** Runs that began on a UTC day. */
export interface RunsOfDay {
  red: readonly RedRun[];
  /** When each of its runs began; milliseconds since the epoch. */
  starts: DayRow['starts'];
  /** Of those on the default branch. */
  defaultStarts: DayRow['default_starts'];
  /** Green ones that ran again although nothing was red in their attempt, with the length of the attempt that followed. */
  outside: DayRow['outside'];
}

/** Names a run as the evaluation has judged it. */
export const judgedKeyOf = ({
  day,
  runId,
  runAttempt,
  ...leg
}: Leg & { day: number; runId: string; runAttempt: number }): string =>
  JSON.stringify([day, legKey(leg), runId, runAttempt]);

export class RunDays {
  readonly #days: DayValues<RunsOfDay>;

  constructor(private readonly deps: Pick<InsightsDeps, 'clickhouse'>) {
    this.#days = new DayValues(deps.clickhouse, { bytesMax: BYTES_MAX, bytesOf });
  }

  /** The days that the window touches, whole. */
  of(repository: Repository, window: Days & { branches: readonly string[] }, turn: Turn): Promise<RunsOfDay[]> {
    return this.#days.of({ repository, filters: window.branches, window, turn }, (days) =>
      this.#read(repository, { ...days, branches: window.branches }, turn),
    );
  }

  async #read(
    { id }: Repository,
    { start, end, branches }: Days & { branches: readonly string[] },
    turn: Turn,
  ): Promise<Map<number, RunsOfDay>> {
    const { clickhouse } = this.deps;
    const values = { repository_id: id, start_ms: start, end_ms: end, branches: [...branches] };
    const [red, days] = await Promise.all([
      clickhouse.select(redRuns, values, turn),
      clickhouse.select(runDays, values, turn),
    ]);
    const byDay = Map.groupBy(red, ({ day }) => day);
    return new Map(
      days.map(({ day_number: day, starts, default_starts: defaultStarts, outside }) => [
        day,
        { red: byDay.get(day) ?? [], starts, defaultStarts, outside },
      ]),
    );
  }
}

const bytesOf = ({ red, starts, defaultStarts, outside }: RunsOfDay): number =>
  red.reduce((sum, { costly }) => sum + RED_BYTES + TEST_BYTES * costly.tests.length, 0) +
  8 * (starts.length + defaultStarts.length + 4 * outside.length);
