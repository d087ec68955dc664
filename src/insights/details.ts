/** Everything about one test. */
import type { AnyElysia } from 'elysia';
import { z } from 'zod';
import { defineQuery } from '../clickhouse/query.ts';
import { HEALTH_RECENT_DAYS } from '../domain/judgement-constants.ts';
import { formatMoment } from '../domain/moment.ts';
import { HEALTHS, STATUSES, worstHealth } from '../domain/status.ts';
import { DAY_MS } from '../domain/time.ts';
import { type Http, mount } from '../http/operation.ts';
import { type PullRequest, pullRequestMergedAs } from '../postgres/pull-requests.ts';
import * as common from './common.ts';

/** Ratios cover this many days. */
const RATIO_DAYS = 30;
/** Shown as the author of a pull request whose account was deleted. */
const GHOST = { id: 10_137, login: 'ghost' };

const rowSchema = z.object({
  identities: z.number(),
  name: z.string(),
  last_success_ms: z.number(),
  last_failure_ms: z.number(),
  last_status: z.enum(STATUSES).catch('skipped'),
  last_framework: z.string(),
  last_framework_version: z.string(),
  last_language: z.string(),
  last_filepath: z.string(),
  last_function: z.string(),
  passed: z.number(),
  failed: z.number(),
  flaky: z.number(),
  healths: z.array(z.object({ health: z.enum(HEALTHS), newest_ms: z.int() })),
  /** None or one. */
  first_failure: z.array(z.object({ failed_ms: z.int(), commit: z.string() })),
});
type Row = z.infer<typeof rowSchema>;

const details = defineQuery(
  'insights/details',
  { repository_id: 'UUID', test_id: 'UUID', since_ms: 'Int64' },
  rowSchema,
);

const pullSchema = z
  .object({
    id: z.int().meta({ example: 1_234_567 }),
    number: z.int().meta({ example: 7 }),
    title: z.string().meta({ example: 'Round totals' }),
    user: z.object({ id: z.int().meta({ example: 583_231 }), login: z.string().meta({ example: 'octocat' }) }),
  })
  .meta({ id: 'PullSummary' });

const ratio = z.number().min(0).max(1);
const nullableText = (example: string) => z.string().nullable().meta({ example });
const response = z.object({
  repository: z.string().meta({ example: 'shop' }),
  test_name: common.testNameOut,
  test_id: common.testIdOut,
  health_status: z
    .enum(HEALTHS)
    .meta({ description: 'The worst health among its pipelines and CI jobs', example: 'flaky' }),
  last_conclusion: z.enum(STATUSES).meta({ example: 'passed' }),
  failure_ratio: ratio.meta({
    description: 'Share of failures among the passed and failed executions of the last 30 days',
    example: 0.25,
  }),
  flakiness_ratio: ratio.meta({ example: 0.25 }),
  success_ratio: ratio.meta({ example: 0.75 }),
  flaky_detection_enabled: z.boolean().meta({ example: true }),
  first_failure_at: common.dateTimeOut.nullable(),
  first_failure_commit: nullableText('1111111111111111111111111111111111111111'),
  first_failure_pull: pullSchema.nullable(),
  last_failure_at: common.dateTimeOut.nullable(),
  last_success_at: common.dateTimeOut.nullable(),
  test_framework: nullableText('vitest'),
  test_framework_version: nullableText('3.2.4'),
  test_programming_language: nullableText('javascript'),
  test_filepath: nullableText('src/cart.test.ts'),
  test_function_name: nullableText('sums'),
});

const detailsAddress = '/v1/ci/:owner/repositories/:repository_name/tests/:test_id';

export const mountDetails = (app: AnyElysia, http: Http, deps: common.InsightsDeps): void =>
  mount(app, http, 'GET', detailsAddress, {
    operationId: 'getTest',
    tag: common.TAG,
    summary: 'Get detailed information about a test',
    description:
      'Health, latest results and first failure of a test on the default branch. Ratios cover the last 30 days.',
    access: 'read',
    params: common.testPath,
    responses: { 200: { description: 'The test.', schema: response } },
    isCoalesced: true,
    handle: async ({ params: path, signal }) => {
      const repository = await common.repositoryOfTest(deps, path.owner, path.repository_name);
      const [row] = await deps.clickhouse.select(
        details,
        {
          repository_id: repository.id,
          test_id: path.test_id,
          since_ms: deps.clock.now() - RATIO_DAYS * DAY_MS,
        },
        { owner: path.owner, signal },
      );
      if (!row || row.identities === 0) throw common.unknownTest();
      const [firstFailure] = row.first_failure;
      const pull = firstFailure?.commit
        ? await pullRequestMergedAs(deps.db, repository.id, firstFailure.commit)
        : undefined;
      const conclusive = row.passed + row.failed;
      const share = (count: number): number => (conclusive === 0 ? 0 : count / conclusive);
      return {
        body: {
          repository: repository.name,
          test_name: row.name,
          test_id: path.test_id,
          health_status: healthOf(row),
          last_conclusion: row.last_status,
          failure_ratio: share(row.failed),
          flakiness_ratio: share(repository.flakyDetectionEnabled ? row.flaky : 0),
          success_ratio: conclusive === 0 ? 0 : 1 - share(row.failed),
          flaky_detection_enabled: repository.flakyDetectionEnabled,
          first_failure_at: timeOrNull(firstFailure?.failed_ms ?? 0),
          first_failure_commit: firstFailure?.commit || null,
          first_failure_pull: pull ? summaryOf(pull) : null,
          last_failure_at: timeOrNull(row.last_failure_ms),
          last_success_at: timeOrNull(row.last_success_ms),
          test_framework: row.last_framework || null,
          test_framework_version: row.last_framework_version || null,
          test_programming_language: row.last_language || null,
          test_filepath: row.last_filepath || null,
          test_function_name: row.last_function || null,
        },
      };
    },
  });

/**
 * The worst health of the identities that ran within 14 days before the test's newest execution: a job that no longer
 * runs the test says nothing about it.
 */
function healthOf({ healths }: Row) {
  const newestMs = Math.max(...healths.map(({ newest_ms }) => newest_ms));
  const recent = healths.filter(({ newest_ms }) => newest_ms > newestMs - HEALTH_RECENT_DAYS * DAY_MS);
  return worstHealth(recent.map(({ health }) => health));
}

const timeOrNull = (at: number): string | null => (at > 0 ? formatMoment(at) : null);

const summaryOf = (pull: PullRequest) => ({
  id: pull.id,
  number: pull.number,
  title: pull.title,
  user: pull.authorId === null ? GHOST : { id: pull.authorId, login: pull.authorLogin ?? GHOST.login },
});
