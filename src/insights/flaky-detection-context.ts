/** Tells test runners which new and unhealthy tests to run again, so that a new flaky test is caught before it is merged. */
import type { AnyElysia } from 'elysia';
import { z } from 'zod';
import { defineQuery } from '../clickhouse/query.ts';
import { TEST_NAME_LENGTH_MAX } from '../domain/limits.ts';
import { KNOWN_TESTS_MAX, rerunPlan } from '../domain/rerun-plan.ts';
import { DAY_MS } from '../domain/time.ts';
import { type Http, mount } from '../http/operation.ts';
import { notFound } from '../http/problems.ts';
import { type EncodedBody, encodeBody } from '../http/reply.ts';
import { onPostgres } from '../postgres/client.ts';
import { readHealths } from '../postgres/identities.ts';
import type { Repository } from '../postgres/repositories.ts';
import { TtlCache } from '../ttl-cache.ts';
import * as common from './common.ts';

const MEAN_DAYS = 14;
/** The mean hardly moves, and reads the whole repository. */
const MEAN_KEPT_MS = 10 * 60_000;
/** Every CI job asks for the names. */
const ANSWER_KEPT_MS = 2_000;
/** Reading those of 20,000 tests takes some tenths of a second, so such an answer is kept for some seconds. */
const LOAD_SHARE_MAX = 0.05;
const MEANS_MAX = 1_000;
/** That of 100,000 tests has ten megabytes. */
const ANSWERS_MAX = 50;

const meanDuration = defineQuery(
  'insights/mean_duration',
  { repository_id: 'UUID', since_ms: 'Int64' },
  z.object({ mean_s: z.number() }),
);

const ratio = (what: string) =>
  z
    .number()
    .meta({ description: `Time for running ${what} again, as a share of the time of known tests`, example: 0.1 });
const names = (description: string, example: string) => z.array(z.string()).meta({ description, example: [example] });
const response = z.object({
  budget_ratio_for_new_tests: ratio('new tests'),
  budget_ratio_for_unhealthy_tests: ratio('unhealthy tests'),
  existing_test_names: names('Tests that ran on the default branch; others are new', 'test_cart.py::test_sums'),
  unhealthy_test_names: names('Those of them that are flaky or broken', 'test_cart.py::test_sums'),
  existing_tests_mean_duration_ms: z.int().meta({ example: 120 }),
  min_budget_duration_ms: z.int().meta({ description: 'The budget is never less', example: 4_000 }),
  min_test_execution_count: z.int().meta({ description: 'A test too slow for as many is left alone', example: 5 }),
  max_test_execution_count: z.int().meta({ example: 300 }),
  max_test_name_length: z.int().meta({ example: 10_000 }),
});

const OFF =
  'Tests are not run again in this repository. Switch it on with `ci-insights repos set <owner>/<name> --reruns 10`.';

const address = '/v1/ci/:owner/repositories/:repository/flaky-detection-context';

export function mountFlakyDetectionContext(app: AnyElysia, http: Http, deps: common.InsightsDeps): void {
  const means = new TtlCache<number>(MEAN_KEPT_MS, MEANS_MAX);
  /** By repository and setting. Null if there are too many tests. */
  const answers = new TtlCache<EncodedBody | null>(ANSWER_KEPT_MS, ANSWERS_MAX, { loadShareMax: LOAD_SHARE_MAX });
  const meanOf = async ({ id, owner }: Repository): Promise<number> => {
    const since = deps.clock.now() - MEAN_DAYS * DAY_MS;
    const [row] = await deps.clickhouse.select(meanDuration, { repository_id: id, since_ms: since }, { owner });
    return row?.mean_s ?? 0;
  };
  const answerOf = async (repository: Repository, rerunPercent: number): Promise<EncodedBody | null> => {
    const { id } = repository;
    const [tests, meanSeconds] = await Promise.all([
      onPostgres(() => readHealths(deps.db, id, KNOWN_TESTS_MAX + 1)),
      means.get(id, () => meanOf(repository)),
    ]);
    if (tests.length > KNOWN_TESTS_MAX) return null;
    return encodeBody(response, rerunPlan({ tests, meanSeconds }, rerunPercent, TEST_NAME_LENGTH_MAX));
  };
  mount(app, http, 'GET', address, {
    operationId: 'getFlakyDetectionContext',
    tag: common.TAG,
    summary: 'What test runners need to run new and unhealthy tests again',
    description: `For test plugins. In a pull request they run tests again that never ran on the default branch, within a budget of time, and fail the run if one of them both passes and fails. Elsewhere they run unhealthy tests again and change no result. 404 means off, which it is unless \`repos set --reruns\` says otherwise, and for repositories of more than ${KNOWN_TESTS_MAX} tests.`,
    access: 'read',
    isRateLimited: false,
    params: common.shortPath,
    responses: { 200: { description: 'The names of known tests, and the budget.', schema: response } },
    isCoalesced: true,
    handle: async ({ params: path }) => {
      const repository = await deps.repositories.find(path.owner, path.repository);
      if (!repository || repository.rerunPercent === null) throw notFound(OFF);
      const { id, rerunPercent } = repository;
      const encoded = await answers.get(`${id} ${rerunPercent}`, () => answerOf(repository, rerunPercent));
      if (!encoded) throw notFound(`Tests are not run again in repositories of more than ${KNOWN_TESTS_MAX} tests.`);
      return { encoded };
    },
  });
}
