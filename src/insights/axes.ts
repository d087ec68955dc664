/** Where a test fails: its legs, and which axis explains its failures. */
import type { AnyElysia } from 'elysia';
import { z } from 'zod';
import { axesSchema } from '../domain/axes.ts';
import { formatMoment } from '../domain/moment.ts';
import { RATIO_DAYS, windowUpTo } from '../domain/ratio-window.ts';
import { LEG_EXECUTIONS_MAX } from '../domain/where-it-fails.ts';
import { failsWithField, LEGS_LISTED_MAX } from '../explain/fails-with-schema.ts';
import { legsOfTest } from '../explain/where-it-fails.ts';
import { type Http, mount } from '../http/operation.ts';
import * as common from './common.ts';
import { latest } from './known-tests.ts';

const response = z.object({
  since: common.dateTimeOut.meta({
    description: `The last ${RATIO_DAYS} UTC days begin`,
    example: '2026-10-23T00:00:00.000Z',
  }),
  is_complete: z.boolean().meta({
    description: `False: only the newest ${LEG_EXECUTIONS_MAX.toLocaleString('en-US')} executions were considered`,
    example: true,
  }),
  fails_with: failsWithField,
  legs_count: z.int().meta({ description: 'In how many legs it ran', example: 6 }),
  legs: z
    .array(
      z.object({
        pipeline_name: common.pipelineNameOut,
        job_name: common.jobNameOut,
        axes: axesSchema.meta({ description: 'Empty without axes', example: { os: 'windows', python: '3.13' } }),
        passed: z.int().meta({ example: 3 }),
        failed: z
          .int()
          .meta({ description: 'Executions that failed, or passed only after failed attempts', example: 9 }),
      }),
    )
    .meta({
      description: `Those with the most failures first, at most ${LEGS_LISTED_MAX}; none if \`fails_with\` is null`,
    }),
});
export type TestAxes = z.output<typeof response>;

const axesAddress = '/v1/ci/:owner/repositories/:repository_name/tests/:test_id/axes';

export function mountAxes(app: AnyElysia, http: Http, deps: common.InsightsDeps): void {
  mount(app, http, 'GET', axesAddress, {
    operationId: 'getTestAxes',
    tag: common.TAG,
    summary: 'Say where a test fails',
    description:
      'The legs (pipeline, CI job and axes) in which a test ran in the last 30 UTC days, on any branch, and which axis explains its failures: legs are compared within the same commit and day. Only asked of a test that failed on the default branch in these days.',
    access: 'read',
    params: common.testPath,
    responses: { 200: { description: 'The legs, and what their failures follow.', schema: response } },
    isCoalesced: true,
    handle: async ({ params: path, signal }) => {
      const { repository, testId } = await common.testAsked(deps, path);
      const test = await deps.knownTests.get(repository, testId);
      const window = windowUpTo(deps.clock.now());
      const lastFailureAt = latest(test.identities.map(({ summary }) => summary.lastFailureAt));
      const since = formatMoment(window.start);
      if (lastFailureAt === null || lastFailureAt < window.start)
        return { body: { since, is_complete: true, fails_with: null, legs_count: 0, legs: [] } };
      const asked = { repositoryId: repository.id, testId, window };
      const { isComplete, legs, failsWith } = await legsOfTest(deps.clickhouse, asked, {
        owner: repository.owner,
        signal,
      });
      return {
        body: {
          since,
          is_complete: isComplete,
          fails_with: failsWith,
          legs_count: legs.length,
          legs: legs.slice(0, LEGS_LISTED_MAX).map(({ pipelineName, jobName, ...leg }) => ({
            pipeline_name: pipelineName,
            job_name: jobName,
            ...leg,
          })),
        },
      };
    },
  });
}
