/** One cause: its newest failure, what it hit, and between which commits it began. */
import type { AnyElysia } from 'elysia';
import { z } from 'zod';
import { asLookUp, defineQuery } from '../clickhouse/query.ts';
import { attachmentsOf } from '../domain/attachments.ts';
import { axesOf } from '../domain/axes.ts';
import { noCost } from '../domain/cost.ts';
import { formatMoment } from '../domain/moment.ts';
import { HEALTHS } from '../domain/status.ts';
import { DAY_MS } from '../domain/time.ts';
import { type Http, mount } from '../http/operation.ts';
import { uuid5 } from '../http/path.ts';
import { notFound } from '../http/problems.ts';
import {
  CAUSE_LEGS_MAX,
  CAUSE_MESSAGES_MAX,
  CAUSE_TESTS_MAX,
  type CauseDetails,
  causeOf,
  readCause,
} from '../postgres/cause-details.ts';
import { readCauseOwners } from '../postgres/cause-owners.ts';
import { readQuarantinedCauses } from '../postgres/cause-quarantines.ts';
import { readCauseTerms } from '../postgres/cause-terms.ts';
import { onPostgres } from '../postgres/client.ts';
import type { Repository } from '../postgres/repositories.ts';
import { costOfCauses } from './cause-costs.ts';
import {
  causeIdOut,
  countOut,
  daysJson,
  daysOut,
  quarantineJson,
  quarantineOut,
  termsJson,
  termsOut,
  testOut,
} from './cause-schemas.ts';
import type { RedRunCauses } from './causes-of-red-runs.ts';
import * as common from './common.ts';
import { partFigures, partJson, ratesOf } from './cost-figures.ts';
import type { FailureEvidence } from './failure-evidence.ts';
import { group } from './failures.ts';
import type { RedRunLedgers } from './red-run-ledger.ts';
import { ledgerWindow } from './red-runs-by-day.ts';

const PULLS_MAX = 100;
const ALL_DAYS = { from: 0, to: 65_535 };
/** A pass that is older says nothing about what began now. */
const LAST_PASS_DAYS = 14;

const aroundBeginning = asLookUp(
  defineQuery(
    'insights/around_beginning',
    { repository_id: 'UUID', test_id: 'UUID', from_ms: 'Int64', began_ms: 'Int64' },
    z.object({
      // Null: its first failure is not retained.
      pipeline_name: z.string().nullable(),
      job_name: z.string().nullable(),
      axes: z.string().nullable(),
      failed_commit: z.string().nullable(),
      passed_commit: z.string(),
      passes: z.int(),
      passed_ms: z.int(),
      passes_there: z.int(),
    }),
  ),
);
const pullsOfCause = defineQuery(
  'insights/pulls_of_cause',
  { repository_id: 'UUID', test_ids: 'Array(UUID)', failure_ids: 'Array(UUID)', limit: 'UInt32' },
  z.object({ number: z.int(), failed: z.int(), last_ms: z.int() }),
);

const beginningSchema = z.object({
  kind: z.enum(['commits', 'same_commit', 'no_pass', 'not_retained']).meta({
    description: `\`commits\`: it began after \`passed_commit\`, and \`failed_commit\` was the first that failed. \`same_commit\`: no commit is to blame, since the test passed on that very commit before. \`no_pass\`: the test and leg had not passed in the ${LAST_PASS_DAYS} days before. \`not_retained\`: its first failure has left.`,
    example: 'commits',
  }),
  test: testOut.meta({ description: 'The test that failed first' }),
  pipeline_name: common.pipelineNameOut.nullable(),
  job_name: common.jobNameOut.nullable(),
  axes: common.axesOut.nullable(),
  passed_commit: z.string().nullable().meta({ description: 'On which this test and leg passed last', example: 'b1f3' }),
  passed_at: common.dateTimeOut.nullable(),
  failed_commit: z.string().nullable().meta({ description: 'The first that failed', example: 'c2e4' }),
});

const response = z.object({
  cause_id: causeIdOut,
  ...termsOut,
  quarantine: quarantineOut,
  merged_from: z.array(z.guid()).meta({ description: 'Ids of causes that turned out to be this one', example: [] }),
  failure_count: countOut('Failed attempts that are retained', 42),
  test_count: countOut('Tests that it hit', 9),
  leg_count: countOut('Legs of CI jobs that it hit', 3),
  first_failure_at: common.dateTimeOut,
  last_failure_at: common.dateTimeOut,
  newest_failure: z.object({
    test: testOut,
    failure_id: z.guid().meta({ example: '1c0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c12' }),
    failed_at: common.dateTimeOut,
    exception_type: z.string().meta({ example: 'ConnectionError' }),
    exception_message: z.string().meta({ example: 'connect ECONNREFUSED 127.0.0.1:5432' }),
    exception_stacktrace: z.string().nullable().meta({ example: 'at connect (net.ts:12:5)' }),
    job_url: z.string().nullable().meta({ example: 'https://ci.example.com/runs/1001' }),
    attachments: common.attachmentsOut,
  }),
  messages: z
    .array(
      z.object({
        exception_type: z.string().meta({ example: 'ConnectionError' }),
        exception_message: z.string().meta({ example: 'connect ECONNREFUSED <address1>' }),
        failure_count: z.int().meta({ example: 40 }),
        first_failure_at: common.dateTimeOut,
        last_failure_at: common.dateTimeOut,
      }),
    )
    .meta({ description: `Its messages, normalised, most failures first: at most ${CAUSE_MESSAGES_MAX}` }),
  tests: z
    .array(
      testOut.extend({
        failure_count: z.int().meta({ example: 12 }),
        last_failure_on: z.iso.date().meta({ description: 'UTC day', example: '2026-11-20' }),
        health_status: z.enum(HEALTHS).meta({ example: 'flaky' }),
        quarantine_ids: z.array(z.guid()).meta({ description: 'Its open quarantines', example: [] }),
      }),
    )
    .meta({ description: `Tests that it hit, most failures first: at most ${CAUSE_TESTS_MAX}` }),
  legs: z
    .array(
      z.object({
        pipeline_name: common.pipelineNameOut,
        job_name: common.jobNameOut,
        axes: common.axesOut,
        failure_count: z.int().meta({ example: 30 }),
      }),
    )
    .meta({ description: `Legs that it hit, most failures first: at most ${CAUSE_LEGS_MAX}` }),
  failures_by_day: daysOut,
  cost: z.object(partFigures).extend({ start: common.dateTimeOut, end: common.dateTimeOut }).meta({
    description: 'What it cost on all branches in the last 28 days; up to a minute old',
  }),
  beginning: beginningSchema,
  pull_requests: z
    .array(
      z.object({
        number: z.int().meta({ example: 7 }),
        failure_count: z.int().meta({ description: 'Executions', example: 2 }),
        last_failure_at: common.dateTimeOut,
      }),
    )
    .meta({
      description: `Pull requests on which these tests failed in the same way, newest first: at most ${PULLS_MAX}`,
    }),
});
export type CausePage = z.output<typeof response>;

const address = '/v1/ci/:owner/repositories/:repository/causes/:cause_id';

export type CauseDeps = common.InsightsDeps & {
  evidence: FailureEvidence;
  redRunLedgers: RedRunLedgers;
  redRunCauses: RedRunCauses;
};

export function mountCause(app: AnyElysia, http: Http, deps: CauseDeps): void {
  mount(app, http, 'GET', address, {
    operationId: 'getCause',
    tag: common.TAG,
    summary: 'Get a cause',
    description:
      'What many failures have in common: the newest of them, the tests, legs and pull requests that it hit, and between which commits it began. The id of a cause that was merged leads to what it has become, whose `merged_from` names it.',
    access: 'read',
    params: common.shortPath.extend({
      cause_id: uuid5('The cause, as returned by the list of causes.', '6b1f2a52-4dd6-5a3e-9a75-0b2f1d9d3c14'),
    }),
    responses: { 200: { description: 'The cause.', schema: response } },
    isCoalesced: true,
    handle: async ({ params: path, signal }) => ({ body: await readCausePage(deps, path, signal) }),
  });
}

/** Everything about a cause. Throws 404 for one that is unknown. */
export async function readCausePage(
  deps: CauseDeps,
  path: { owner: string; repository: string; cause_id: string },
  signal?: AbortSignal,
): Promise<CausePage> {
  const unknown = () => notFound('There is no such cause in this repository. Its causes are listed at …/causes.');
  const repository = await deps.repositories.find(path.owner, path.repository);
  if (!repository) throw unknown();
  const cause = await onPostgres(async () => {
    const causeId = await causeOf(deps.db, repository.id, path.cause_id);
    return causeId === undefined ? undefined : readCause(deps.db, repository.id, causeId);
  });
  if (!cause) throw unknown();
  const { oldest } = cause;
  const testIds = cause.tests.map(({ test_id: id }) => id);
  const window = ledgerWindow({ start: undefined, end: undefined }, deps.clock.now());
  const [newest, beginning, pulls, quarantines, costs, [terms, owners, quarantined]] = await Promise.all([
    newestFailure(deps, repository, cause, signal),
    beginningOf(
      deps,
      repository,
      { testId: oldest.first_test, testName: oldest.first_test_name ?? '', beganAt: oldest.first_ms },
      signal,
    ),
    pullsOf(deps, repository, cause, signal),
    deps.evidence.quarantinesOf(repository, testIds),
    costOfCauses(deps, repository, window),
    onPostgres(() =>
      Promise.all([
        readCauseTerms(deps.db, repository.id, [cause.causeId]),
        readCauseOwners(deps.db, repository.id, [cause.causeId], ALL_DAYS),
        readQuarantinedCauses(deps.db, repository.id, [cause.causeId]),
      ]),
    ),
  ]);
  // Its month has left since.
  if (!newest) throw unknown();
  return {
    cause_id: cause.causeId,
    ...termsJson(terms.get(cause.causeId), owners.get(cause.causeId)),
    quarantine: quarantineJson(quarantined.get(cause.causeId)),
    merged_from: cause.mergedFrom,
    failure_count: cause.failures,
    test_count: cause.testCount,
    leg_count: cause.legCount,
    first_failure_at: formatMoment(cause.firstAt),
    last_failure_at: formatMoment(cause.lastAt),
    newest_failure: newest,
    messages: messagesOf(cause),
    tests: cause.tests.map((test) => ({
      test_id: test.test_id,
      test_name: test.test_name ?? '',
      failure_count: test.failures,
      last_failure_on: dayJson(test.last_day),
      health_status: test.health,
      quarantine_ids: (quarantines.get(test.test_id) ?? []).map(({ id }) => id),
    })),
    legs: cause.legs.map((leg) => ({
      pipeline_name: leg.pipeline_name,
      job_name: leg.job_name,
      axes: axesOf(leg.axes),
      failure_count: leg.failures,
    })),
    failures_by_day: daysJson(cause.days),
    cost: {
      ...partJson(costs.get(cause.causeId) ?? noCost(cause.causeId), ratesOf(repository)),
      start: formatMoment(window.start),
      end: formatMoment(window.end),
    },
    beginning,
    pull_requests: pulls,
  };
}

const dayJson = (day: number): string => formatMoment(day * DAY_MS).slice(0, 10);

const messagesOf = ({ nodes }: CauseDetails): CausePage['messages'] =>
  [...nodes]
    .sort((one, other) => other.failures - one.failures || other.last_ms - one.last_ms)
    .slice(0, CAUSE_MESSAGES_MAX)
    .map((node) => ({
      exception_type: node.exception_type,
      exception_message: node.message,
      failure_count: node.failures,
      first_failure_at: formatMoment(node.first_ms),
      last_failure_at: formatMoment(node.last_ms),
    }));

async function newestFailure(
  { clickhouse }: common.InsightsDeps,
  { id, owner }: Repository,
  cause: CauseDetails,
  signal?: AbortSignal,
): Promise<CausePage['newest_failure'] | undefined> {
  const { last_test: testId, last_failure: failureId } = cause.newest;
  const asked = { repository_id: id, test_id: testId, failure_id: failureId, latest: 1 };
  const [row] = await clickhouse.select(group, asked, { owner, signal });
  const event = row?.latest_events[0];
  return (
    event && {
      test: { test_id: testId, test_name: cause.newest.last_test_name ?? '' },
      failure_id: failureId,
      failed_at: formatMoment(event.failed_ms),
      exception_type: event.type,
      exception_message: event.message,
      exception_stacktrace: event.stacktrace || null,
      job_url: event.job_url || null,
      attachments: attachmentsOf(event.attachments),
    }
  );
}

/** The commits between which it began: the last on which the test that failed first passed in that leg, and the first that failed. */
export async function beginningOf(
  { clickhouse }: common.InsightsDeps,
  { id, owner }: Repository,
  { testId, testName, beganAt }: { testId: string; testName: string; beganAt: number },
  signal?: AbortSignal,
): Promise<CausePage['beginning']> {
  const [row] = await clickhouse.select(
    aroundBeginning,
    { repository_id: id, test_id: testId, from_ms: beganAt - LAST_PASS_DAYS * DAY_MS, began_ms: beganAt },
    { owner, signal },
  );
  const { pipeline_name: pipeline = null, job_name: job = null, axes = null, failed_commit: failed = null } = row ?? {};
  const passed = row && row.passes > 0 ? row : undefined;
  const kind =
    failed === null ? 'not_retained' : !passed ? 'no_pass' : passed.passes_there > 0 ? 'same_commit' : 'commits';
  return {
    kind,
    test: { test_id: testId, test_name: testName },
    ...{ pipeline_name: pipeline, job_name: job, axes: axes === null ? null : axesOf(axes), failed_commit: failed },
    passed_commit: passed?.passed_commit ?? null,
    passed_at: passed ? formatMoment(passed.passed_ms) : null,
  };
}

async function pullsOf(
  { clickhouse }: common.InsightsDeps,
  { id, owner }: Repository,
  { groups }: CauseDetails,
  signal?: AbortSignal,
): Promise<CausePage['pull_requests']> {
  if (groups.length === 0) return [];
  const rows = await clickhouse.select(
    pullsOfCause,
    {
      repository_id: id,
      test_ids: [...new Set(groups.map(({ testId }) => testId))],
      failure_ids: groups.map(({ failureId }) => failureId),
      limit: PULLS_MAX,
    },
    { owner, signal },
  );
  return rows.map(({ number, failed, last_ms: lastAt }) => ({
    number,
    failure_count: failed,
    last_failure_at: formatMoment(lastAt),
  }));
}
