/** Everything about one test. */
import type { AnyElysia } from 'elysia';
import { z } from 'zod';
import { isActive } from '../domain/activity.ts';
import { axesOf } from '../domain/axes.ts';
import { confidenceOfTest } from '../domain/health-confidence.ts';
import { formatMoment } from '../domain/moment.ts';
import { recentCounts } from '../domain/ratio-window.ts';
import { reproduceCommand } from '../domain/reproduce-command.ts';
import { HEALTHS, STATUSES } from '../domain/status.ts';
import { legKey } from '../domain/test-identity.ts';
import {
  countedIdentities,
  healthOfTest,
  newestOf,
  SKIPPED_DAYS,
  type SummarisedExecution,
  skippedSince,
} from '../domain/test-state.ts';
import { DAY_MS } from '../domain/time.ts';
import { type Http, mount } from '../http/operation.ts';
import type { KnownTest } from '../postgres/known-tests.ts';
import * as common from './common.ts';
import { latest } from './known-tests.ts';
import { pullSchema, pullSummary } from './pull-summary.ts';

const LEGS_MAX = 100;
const skippedSinceOut = common.dateTimeOut.nullable().meta({
  description: `When it last passed or failed, if it was only skipped in the ${SKIPPED_DAYS} days after that, or more: then its health is from before. Else null`,
});
const legOut = z
  .object({
    pipeline_name: common.pipelineNameOut,
    job_name: common.jobNameOut,
    axes: common.axesOut,
    health_status: z.enum(HEALTHS).meta({ example: 'broken' }),
    is_active: common.isActiveOut(),
    executions: z.int().meta({ description: 'Passed and failed on the last 30 UTC days', example: 70 }),
    failed_executions: z.int().meta({ description: 'Failed in these days', example: 70 }),
    last_failure_at: common.lastFailureOut(),
    last_success_at: common.dateTimeOut.nullable(),
    skipped_since: skippedSinceOut,
    ...common.durationFields,
    grown_since: common.dateTimeOut.nullable().meta({
      description:
        'The UTC day from which on it takes longer there, as the list of durations says; null if it did not grow',
    }),
  })
  .meta({ id: 'TestLeg' });

const ratio = z.number().min(0).max(1);
const nullableText = (example: string) => z.string().nullable().meta({ example });
const response = z.object({
  repository: z.string().meta({ example: 'shop' }),
  test_name: common.testNameOut,
  test_id: common.testIdOut,
  health_status: z
    .enum(HEALTHS)
    .meta({ description: 'The worst health among its pipelines and CI jobs', example: 'flaky' }),
  is_active: common.isActiveOut(),
  ...common.confidenceFields,
  last_conclusion: z.enum(STATUSES).meta({ example: 'passed' }),
  skipped_since: skippedSinceOut,
  failure_ratio: ratio.meta({
    description: 'Share of failures among the passed and failed executions of the last 30 UTC days, today included',
    example: 0.25,
  }),
  flakiness_ratio: ratio.meta({ example: 0.25 }),
  success_ratio: ratio.meta({ example: 0.75 }),
  flaky_detection_enabled: z.boolean().meta({ example: true }),
  first_failure_at: common.dateTimeOut.nullable(),
  first_failure_commit: nullableText('1111111111111111111111111111111111111111'),
  first_failure_pull: pullSchema.nullable(),
  last_failure_at: common.lastFailureOut(),
  last_success_at: common.dateTimeOut.nullable(),
  test_framework: nullableText('vitest'),
  test_framework_version: nullableText('3.2.4'),
  test_programming_language: nullableText('javascript'),
  test_filepath: nullableText('src/cart.test.ts'),
  test_function_name: nullableText('sums'),
  reproduce: common.reproduceOut,
  owners: common.ownersOut(),
  legs: z
    .array(legOut)
    .max(LEGS_MAX)
    .meta({ description: `Legs of its CI jobs with retained executions, the worst first: at most ${LEGS_MAX}` }),
});

/** Where an execution ran, by the axis `project` of its leg. */
function projectOf({ legs }: KnownTest, { executionId }: SummarisedExecution): string | undefined {
  const leg = legs.find(({ summary }) => summary.newest?.executionId === executionId);
  return leg && axesOf(leg.axes).project;
}

export type TestDetails = z.output<typeof response>;

const detailsAddress = '/v1/ci/:owner/repositories/:repository_name/tests/:test_id';

export function mountDetails(app: AnyElysia, http: Http, deps: common.InsightsDeps): void {
  mount(app, http, 'GET', detailsAddress, {
    operationId: 'getTest',
    tag: common.TAG,
    summary: 'Get detailed information about a test',
    description:
      'Health, latest results and first failure of a test on the default branch. Ratios cover the last 30 UTC days, the current one included.',
    access: 'read',
    params: common.testPath,
    responses: { 200: { description: 'The test.', schema: response } },
    isCoalesced: true,
    handle: async ({ params: path }) => {
      const { repository, testId } = await common.testAsked(deps, path);
      const test = await deps.knownTests.get(repository, testId);
      const { firstFailure, firstFailurePull: pull } = test;
      const now = deps.clock.now();
      const summaries = test.identities.map(({ summary }) => summary);
      const { passed, failed } = recentCounts(summaries, now);
      const conclusive = passed + failed;
      const share = (count: number): number => (conclusive === 0 ? 0 : count / conclusive);
      const newest = newestOf(summaries);
      const health = healthOfTest(test.identities);
      return {
        body: {
          repository: repository.name,
          test_name: test.name,
          test_id: testId,
          health_status: health,
          is_active: countedIdentities(test.identities).some((one) => isActive(one, now)),
          ...common.confidenceJson(confidenceOfTest(health, beliefsOf(test.identities))),
          last_conclusion: newest?.status ?? 'skipped',
          skipped_since: timeOrNull(skippedSince(test.identities)),
          failure_ratio: share(failed),
          flakiness_ratio: share(repository.flakyDetectionEnabled ? test.flakyCount : 0),
          success_ratio: conclusive === 0 ? 0 : 1 - share(failed),
          flaky_detection_enabled: repository.flakyDetectionEnabled,
          first_failure_at: timeOrNull(firstFailure?.failedAt),
          first_failure_commit: firstFailure?.commit || null,
          first_failure_pull: pull ? pullSummary(pull) : null,
          last_failure_at: timeOrNull(latest(summaries.map(({ lastFailureAt }) => lastFailureAt))),
          last_success_at: timeOrNull(latest(summaries.map(({ lastSuccessAt }) => lastSuccessAt))),
          test_framework: newest?.framework || null,
          test_framework_version: newest?.frameworkVersion || null,
          test_programming_language: newest?.language || null,
          test_filepath: newest?.filepath || null,
          test_function_name: newest?.function || null,
          reproduce: newest && reproduceCommand({ name: test.name, ...newest, project: projectOf(test, newest) }),
          owners: test.owners,
          legs: legsOf(test, now).slice(0, LEGS_MAX),
        },
      };
    },
  });
}

/** The worst first: by health, then by the share that failed, then by name. */
function legsOf({ legs, durations }: KnownTest, now: number): z.input<typeof legOut>[] {
  return legs
    .map((leg) => {
      const { passed, failed } = recentCounts([leg.summary], now);
      return { leg, summary: leg.summary, failed, ran: passed + failed, lasts: durations.get(legKey(leg)) ?? null };
    })
    .sort(
      (one, other) =>
        HEALTHS.indexOf(other.leg.health) - HEALTHS.indexOf(one.leg.health) ||
        other.failed / (other.ran || 1) - one.failed / (one.ran || 1) ||
        (legKey(one.leg) < legKey(other.leg) ? -1 : 1),
    )
    .map(({ leg, summary, failed, ran, lasts }) => ({
      pipeline_name: leg.pipelineName,
      job_name: leg.jobName,
      axes: axesOf(leg.axes),
      health_status: leg.health,
      is_active: isActive(leg, now),
      executions: ran,
      failed_executions: failed,
      last_failure_at: timeOrNull(summary.lastFailureAt),
      last_success_at: timeOrNull(summary.lastSuccessAt),
      skipped_since: timeOrNull(skippedSince([leg])),
      ...common.durationJson(lasts),
      grown_since: lasts?.grownDay == null ? null : formatMoment(lasts.grownDay * DAY_MS),
    }));
}

const beliefsOf = (identities: KnownTest['identities']) =>
  countedIdentities(identities).map(({ health, belief }) => ({ health, ...belief }));

const timeOrNull = (at: number | null | undefined): string | null =>
  at === null || at === undefined ? null : formatMoment(at);
