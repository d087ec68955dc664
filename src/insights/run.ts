/** One run with its CI jobs, and the reports that arrived for it. */
import type { AnyElysia } from 'elysia';
import { z } from 'zod';
import type { CommitRun } from '../commits/commit-record.ts';
import { axesOf } from '../domain/axes.ts';
import { ADDRESS_LENGTH_MAX } from '../domain/limits.ts';
import { formatMoment } from '../domain/moment.ts';
import { type RunExplanation, TROUBLES } from '../domain/troubled-run.ts';
import { namingLine } from '../domain/unnamed-leg.ts';
import { type Http, mount } from '../http/operation.ts';
import { notFound } from '../http/problems.ts';
import { text } from '../http/text.ts';
import { onPostgres } from '../postgres/client.ts';
import { reportsOfRun } from '../postgres/run-reports.ts';
import type { Commits } from './commits.ts';
import * as common from './common.ts';
import { readRunId } from './run-id.ts';
import { ID_EXAMPLE, runFields, runJson } from './run-json.ts';
import { mayBeTroubled, placeOf, RunTroubles } from './run-troubles.ts';
import type { UsualTestsOfJobs } from './usual-tests.ts';

/** More are left out of the answer. */
const JOBS_MAX = 10_000;

const jobSchema = z.object({
  job_name: common.jobNameOut,
  axes: common.axesOut,
  run_attempt: z.int().meta({ example: 1 }),
  job_url: z.string().nullable().meta({ example: 'https://ci.example.com/runs/1001' }),
  started_at: common.dateTimeOut,
  ended_at: common.dateTimeOut,
  passed: z.int().meta({ example: 211 }),
  failed: z.int().meta({ example: 1 }),
  skipped: z.int().meta({ example: 3 }),
  failed_tests: z.int().meta({ description: 'Tests that failed', example: 1 }),
  trouble: z.enum(TROUBLES).meta({
    description:
      'How likely a healthy test fails in it: `partial` from 1% on, `total` from 75% on. Judged on the default branch only',
    example: 'none',
  }),
  trouble_reason: z.string().nullable().meta({
    description: 'Why, in words; null if nothing went wrong, or if it was not judged',
    example: '1 of 212 executions failed unexpectedly: too few to be trouble',
  }),
  usual_tests: z.int().nullable().meta({
    description:
      'How many tests this leg of the CI job usually runs on the default branch, if this attempt ran far fewer, as when its runner stops at the first failure; otherwise null',
    example: null,
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
  conflicting: z
    .int()
    .meta({ description: 'Executions of which another result is stored under the same names', example: 0 }),
  unnamed_leg: z
    .int()
    .nullable()
    .meta({ description: 'The leg of its results by its order, if it contradicts an earlier report', example: null }),
  name_legs_with: z
    .string()
    .nullable()
    .meta({ description: 'If results conflict: a line to paste that names legs', example: null }),
});

const response = z.object({ ...runFields, jobs: z.array(jobSchema), reports: z.array(reportSchema) });

export type RunAnswer = z.output<typeof response>;

export const mountRun = (
  app: AnyElysia,
  http: Http,
  deps: common.InsightsDeps & { commits: Commits; usualTests: UsualTestsOfJobs },
): void =>
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
      const [ofCommit, reports] = await Promise.all([
        deps.commits.find(repository, name.commit, signal),
        onPostgres(() => reportsOfRun(deps.db, repository.id, name)),
      ]);
      const rows = ofCommit.runs
        .filter(({ pipeline_name, run_id }) => pipeline_name === name.pipelineName && run_id === name.runId)
        .sort(byStart);
      const [first] = rows;
      if (!first) throw unknownRun();
      const failedJobs = rows.filter(mayBeTroubled);
      const [troubles, fewer] = await Promise.all([
        RunTroubles.of(deps.db, repository.id, failedJobs.map(placeOf)),
        deps.usualTests.fewer(repository, rows),
      ]);
      const usualOf = ({ job_name, axes, run_attempt }: CommitRun): number | null =>
        fewer.find((one) => one.jobName === job_name && one.axes === axes && one.runAttempt === run_attempt)?.usual ??
        null;
      const total = (countOf: (row: CommitRun) => number): number => rows.reduce((sum, row) => sum + countOf(row), 0);
      const whole = {
        pipeline_name: name.pipelineName,
        run_id: name.runId,
        commit_sha: name.commit,
        run_branch: first.branch,
        run_base_ref: first.base_ref,
        run_pull_request: first.pull_request,
        is_on_default: first.on_default,
        started_ms: Math.min(...rows.map(({ started_ms }) => started_ms)),
        ended_ms: Math.max(...rows.map(({ ended_ms }) => ended_ms)),
        jobs: new Set(rows.map(({ job_name }) => job_name)).size,
        attempts: Math.max(...rows.map(({ run_attempt }) => run_attempt)),
        run_passed: total(({ passed }) => passed),
        run_failed: total(({ failed }) => failed),
        run_skipped: total(({ skipped }) => skipped),
        failed_jobs: failedJobs.map(({ day_number: day, job_name: job, axes, run_attempt: attempt }) => ({
          day,
          job,
          axes,
          attempt,
        })),
      };
      const jobs = rows
        .slice(0, JOBS_MAX)
        .map((row) => jobJson(row, mayBeTroubled(row) ? troubles.of(placeOf(row)) : undefined, usualOf(row)));
      return { body: { ...runJson(whole, troubles), jobs, reports: reports.map(reportJson) } };
    },
  });

const unknownRun = () => notFound('There is no such run in this repository. Its runs are listed at …/runs.');

const byStart = (one: CommitRun, other: CommitRun): number =>
  one.started_ms - other.started_ms ||
  compareTexts(one.job_name, other.job_name) ||
  compareTexts(one.axes, other.axes) ||
  one.run_attempt - other.run_attempt;

const compareTexts = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);

const jobJson = (
  row: CommitRun,
  explained: RunExplanation | undefined,
  usual: number | null,
): z.input<typeof jobSchema> => ({
  job_name: row.job_name,
  axes: axesOf(row.axes),
  run_attempt: row.run_attempt,
  job_url: row.job_url || null,
  started_at: formatMoment(row.started_ms),
  ended_at: formatMoment(row.ended_ms),
  passed: row.passed,
  failed: row.failed,
  skipped: row.skipped,
  failed_tests: row.failed_tests.length,
  trouble: explained?.trouble ?? 'none',
  trouble_reason: explained?.reason ?? null,
  usual_tests: usual,
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
  conflicting: report.conflicting,
  unnamed_leg: report.leg > 1 ? report.leg : null,
  name_legs_with: report.conflicting > 0 ? namingLine(report.format) : null,
});
