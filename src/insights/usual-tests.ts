/** How many tests the legs of CI jobs usually run: read once in a while for a pipeline, not for each run that is looked at. */
import { z } from 'zod';
import type { ClickHouse } from '../clickhouse/client.ts';
import { defineQuery } from '../clickhouse/query.ts';
import type { CommitRun } from '../commits/commit-record.ts';
import { axesOf, axesSchema } from '../domain/axes.ts';
import { type UsualTests, usualDaysOf, usualIfFewer } from '../domain/usual-tests.ts';
import { ReadRefused, StoreUnavailable } from '../errors.ts';
import type { Repository } from '../postgres/repositories.ts';
import { TtlCache } from '../ttl-cache.ts';
import * as common from './common.ts';

const usualTests = defineQuery(
  'insights/usual_tests',
  { repository_id: 'UUID', pipelines: 'Array(String)', first_day: 'UInt16', last_day: 'UInt16' },
  z.object({
    pipeline_name: z.string(),
    job_name: z.string(),
    axes: z.string(),
    runs: z.int(),
    lower_quartile: z.int(),
    median: z.int(),
  }),
);

const KEPT_MS = 5 * 60_000;
const KEPT_MAX = 1_000;
/** Pipelines of a commit that are looked at, and attempts that are listed. */
const PIPELINES_MAX = 20;
const LISTED_MAX = 100;

type Attempt = Pick<
  CommitRun,
  'pipeline_name' | 'job_name' | 'axes' | 'run_id' | 'run_attempt' | 'day_number' | 'passed' | 'failed'
>;

/** An attempt of a CI job that, in this leg, ran far fewer tests than usual. */
export interface FewerTests {
  pipelineName: string;
  jobName: string;
  axes: string;
  runId: string;
  runAttempt: number;
  ran: number;
  usual: number;
}

export const fewerTestsSchema = z.object({
  pipeline_name: common.pipelineNameOut,
  job_name: common.jobNameOut,
  axes: axesSchema.meta({ description: 'Of the leg that did; empty without axes', example: { os: 'windows' } }),
  run_id: z.string().meta({ example: '1001' }),
  run_attempt: z.int().meta({ example: 1 }),
  ran: z.int().meta({ description: 'Tests that passed or failed in it', example: 12 }),
  usual: z
    .int()
    .meta({ description: 'Tests that this leg of the CI job usually runs on the default branch', example: 400 }),
});

export const fewerTestsJson = (fewer: FewerTests): z.input<typeof fewerTestsSchema> => ({
  pipeline_name: fewer.pipelineName,
  job_name: fewer.jobName,
  axes: axesOf(fewer.axes),
  run_id: fewer.runId,
  run_attempt: fewer.runAttempt,
  ran: fewer.ran,
  usual: fewer.usual,
});

/** Within its pipeline. */
const legOf = ({ job_name, axes }: { job_name: string; axes: string }): string => JSON.stringify([job_name, axes]);

export class UsualTestsOfJobs {
  readonly #known = new TtlCache<ReadonlyMap<string, UsualTests>>(KEPT_MS, KEPT_MAX);

  constructor(private readonly clickhouse: ClickHouse) {}

  /**
   * The attempts among these that ran far fewer tests than their CI jobs do. It is a hint beside what was asked for: if it
   * cannot be read now, there is none.
   */
  async fewer(repository: Repository, rows: readonly Attempt[]): Promise<FewerTests[]> {
    try {
      return await this.#fewer(repository, rows);
    } catch (error) {
      if (error instanceof StoreUnavailable || error instanceof ReadRefused) return [];
      throw error;
    }
  }

  /** A run over midnight has two rows. */
  async #fewer(repository: Repository, rows: readonly Attempt[]): Promise<FewerTests[]> {
    const attempts = Map.groupBy(
      rows.filter(({ run_attempt }) => run_attempt === 1),
      (row) => JSON.stringify([row.pipeline_name, row.job_name, row.axes, row.run_id]),
    );
    const found: FewerTests[] = [];
    const pipelines = new Set<string>();
    for (const parts of attempts.values()) {
      const [first] = parts;
      if (!first || pipelines.add(first.pipeline_name).size > PIPELINES_MAX || found.length === LISTED_MAX) continue;
      const day = Math.max(...parts.map(({ day_number }) => day_number));
      const usual = await this.#usualOf(repository, first.pipeline_name, day);
      const ran = parts.reduce((sum, { passed, failed }) => sum + passed + failed, 0);
      const median = usualIfFewer({ ran, runAttempt: first.run_attempt }, usual.get(legOf(first)));
      if (median === null) continue;
      found.push({
        pipelineName: first.pipeline_name,
        jobName: first.job_name,
        axes: first.axes,
        runId: first.run_id,
        runAttempt: first.run_attempt,
        ran,
        usual: median,
      });
    }
    return found;
  }

  #usualOf(repository: Repository, pipeline: string, day: number) {
    const { firstDay, lastDay } = usualDaysOf(day);
    return this.#known.get(JSON.stringify([repository.id, pipeline, firstDay]), async () => {
      const rows = await this.clickhouse.select(
        usualTests,
        { repository_id: repository.id, pipelines: [pipeline], first_day: firstDay, last_day: lastDay },
        { owner: repository.owner },
      );
      return new Map(
        rows.map((row) => [legOf(row), { runs: row.runs, lowerQuartile: row.lower_quartile, median: row.median }]),
      );
    });
  }
}
