/** One run with its CI jobs, and the reports that arrived for it. */
import type { AnyElysia } from 'elysia';
import { z } from 'zod';
import { defineQuery } from '../clickhouse/query.ts';
import { ADDRESS_LENGTH_MAX } from '../domain/limits.ts';
import { formatMoment } from '../domain/moment.ts';
import { type Http, mount } from '../http/operation.ts';
import { notFound } from '../http/problems.ts';
import { text } from '../http/text.ts';
import { onPostgres } from '../postgres/client.ts';
import { reportsOfRun } from '../postgres/run-reports.ts';
import * as common from './common.ts';
import { readRunId } from './run-id.ts';
import { ID_EXAMPLE, runFields, runJson } from './run-json.ts';

const jobRow = z.object({
  job_name: z.string(),
  run_attempt: z.int(),
  run_branch: z.string(),
  run_base_ref: z.string(),
  run_pull_request: z.int(),
  run_job_url: z.string(),
  is_on_default: z.boolean(),
  started_ms: z.int(),
  ended_ms: z.int(),
  run_passed: z.int(),
  run_failed: z.int(),
  run_skipped: z.int(),
  tests: z.int(),
  run_trouble: z.string(),
});
type JobRow = z.infer<typeof jobRow>;
const jobsOfRun = defineQuery(
  'insights/run',
  { repository_id: 'UUID', commit_sha: 'String', pipeline_name: 'String', run_id: 'String' },
  jobRow,
);

const jobSchema = z.object({
  job_name: common.jobNameOut,
  run_attempt: z.int().meta({ example: 1 }),
  job_url: z.string().nullable().meta({ example: 'https://ci.example.com/runs/1001' }),
  started_at: common.dateTimeOut,
  ended_at: common.dateTimeOut,
  passed: z.int().meta({ example: 211 }),
  failed: z.int().meta({ example: 1 }),
  skipped: z.int().meta({ example: 3 }),
  failed_tests: z.int().meta({ description: 'Tests that failed', example: 1 }),
  trouble: z.enum(['none', 'partial', 'total']).meta({
    description: 'How much of it failed that passed before: little, at least 30 %, at least 90 %',
    example: 'none',
  }),
});
const reportSchema = z.object({
  upload_id: z.guid().meta({ example: '01980f3e-5c1e-7b1c-8f5d-1f2e3d4c5b6a' }),
  job_name: common.jobNameOut,
  run_attempt: z.int().meta({ example: 1 }),
  received_at: common.dateTimeOut,
  stored_at: common.dateTimeOut.nullable(),
  accepted: z.int().meta({ example: 215 }),
  duplicate: z.int().meta({ example: 0 }),
  rejected: z.int().meta({ example: 0 }),
});

const response = z.object({ ...runFields, jobs: z.array(jobSchema), reports: z.array(reportSchema) });

export type RunAnswer = z.output<typeof response>;

export const mountRun = (app: AnyElysia, http: Http, deps: common.InsightsDeps): void =>
  mount(app, http, 'GET', '/v1/ci/:owner/repositories/:repository/runs/:id', {
    operationId: 'getRun',
    tag: common.TAG,
    summary: 'Get a run',
    description: 'One run with the attempts of its CI jobs, and the reports that arrived for it in the last 30 days.',
    access: 'read',
    params: common.shortPath.extend({
      id: text(1, ADDRESS_LENGTH_MAX).meta({ description: 'Of the run, as the list returns it.', example: ID_EXAMPLE }),
    }),
    responses: {
      200: {
        description: 'The run.',
        schema: response,
      },
    },
    isCoalesced: true,
    handle: async ({ params: path, signal }) => {
      const name = readRunId(path.id);
      const repository = await deps.repositories.find(path.owner, path.repository);
      if (!name || !repository) throw unknownRun();
      const [rows, reports] = await Promise.all([
        deps.clickhouse.select(
          jobsOfRun,
          {
            repository_id: repository.id,
            commit_sha: name.commit,
            pipeline_name: name.pipelineName,
            run_id: name.runId,
          },
          { owner: repository.owner, signal },
        ),
        onPostgres(() => reportsOfRun(deps.db, repository.id, name)),
      ]);
      const [first] = rows;
      if (!first) throw unknownRun();
      const total = (of: (row: JobRow) => number): number => rows.reduce((sum, row) => sum + of(row), 0);
      const run = runJson({
        ...first,
        pipeline_name: name.pipelineName,
        run_id: name.runId,
        commit_sha: name.commit,
        started_ms: Math.min(...rows.map(({ started_ms }) => started_ms)),
        ended_ms: Math.max(...rows.map(({ ended_ms }) => ended_ms)),
        jobs: new Set(rows.map(({ job_name }) => job_name)).size,
        attempts: Math.max(...rows.map(({ run_attempt }) => run_attempt)),
        run_passed: total(({ run_passed }) => run_passed),
        run_failed: total(({ run_failed }) => run_failed),
        run_skipped: total(({ run_skipped }) => run_skipped),
        troubled: rows.filter(isTroubled).length,
      });
      return { body: { ...run, jobs: rows.map(jobJson), reports: reports.map(reportJson) } };
    },
  });

const unknownRun = () => notFound('There is no such run in this repository. Its runs are listed at …/runs.');

const isTroubled = ({ run_trouble }: JobRow): boolean => run_trouble !== '' && run_trouble !== 'none';

const jobJson = (row: JobRow): z.input<typeof jobSchema> => ({
  job_name: row.job_name,
  run_attempt: row.run_attempt,
  job_url: row.run_job_url || null,
  started_at: formatMoment(row.started_ms),
  ended_at: formatMoment(row.ended_ms),
  passed: row.run_passed,
  failed: row.run_failed,
  skipped: row.run_skipped,
  failed_tests: row.tests,
  trouble: row.run_trouble === 'partial' || row.run_trouble === 'total' ? row.run_trouble : 'none',
});

const reportJson = (report: Awaited<ReturnType<typeof reportsOfRun>>[number]): z.input<typeof reportSchema> => ({
  upload_id: report.uploadId,
  job_name: report.jobName,
  run_attempt: report.runAttempt,
  received_at: formatMoment(report.receivedAt.getTime()),
  stored_at: report.storedAt ? formatMoment(report.storedAt.getTime()) : null,
  accepted: report.accepted,
  duplicate: report.duplicate,
  rejected: report.rejected,
});
