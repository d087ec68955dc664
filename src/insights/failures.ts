/** The failure groups of a test, and one of them with its newest events. */
import type { AnyElysia } from 'elysia';
import { z } from 'zod';
import { defineQuery } from '../clickhouse/query.ts';
import { attachmentsOf } from '../domain/attachments.ts';
import { totalsOf } from '../domain/failure-group.ts';
import { formatMoment } from '../domain/moment.ts';
import { AXIS_PARAMETERS, type AxisFilter, axisFilterParameter, axisValues } from '../http/axis-filter.ts';
import { type Http, mount } from '../http/operation.ts';
import { uuid5 } from '../http/path.ts';
import { notFound } from '../http/problems.ts';
import { causesOfGroups } from '../postgres/causes.ts';
import { onPostgres } from '../postgres/client.ts';
import { type FailureGroupRecord, newestFailureGroups } from '../postgres/failure-groups.ts';
import { successorOf } from '../postgres/former-groups.ts';
import type { Repository } from '../postgres/repositories.ts';
import { RepositoryBatches } from './batches.ts';
import { causeIdOut } from './cause-schemas.ts';
import * as common from './common.ts';

/** A test with more groups has a message that no fingerprint normalises; the newest are shown. */
const GROUPS_MAX = 1_000;
const LATEST_EVENTS = 10;

const groupRow = z.object({
  events: z.int(),
  first_ms: z.int(),
  last_ms: z.int(),
  latest_events: z.array(
    z.object({
      failed_ms: z.int(),
      execution_id: z.string(),
      attempt: z.int(),
      type: z.string(),
      message: z.string(),
      stacktrace: z.string(),
      attachments: z.string(),
      filepath: z.string(),
      language: z.string(),
      job_url: z.string(),
    }),
  ),
});

/** One failure group with its newest failures. */
export const group = defineQuery(
  'insights/failure',
  { repository_id: 'UUID', test_id: 'UUID', failure_id: 'UUID', latest: 'UInt32' },
  groupRow,
);

const groupsOnAxes = defineQuery(
  'insights/failures_on_axes',
  { repository_id: 'UUID', test_id: 'UUID', groups: 'UInt32', ...AXIS_PARAMETERS },
  z.object({
    failure: z.string(),
    events: z.int(),
    first_ms: z.int(),
    last_ms: z.int(),
    type: z.string(),
    message: z.string(),
  }),
);

const failureFields = {
  id: z.guid().meta({ example: '1c0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c12' }),
  exception_type: z.string().meta({ example: 'AssertionError' }),
  exception_message: z.string().meta({ example: 'expected 3 to equal 4' }),
  failure_count: z.int().meta({ description: 'Failed attempts in this group', example: 2 }),
  first_failure_at: common.dateTimeOut,
  last_failure_at: common.dateTimeOut,
  cause_id: causeIdOut.nullable().meta({
    description:
      'What its failures have in common with those of other tests; null: not derived yet, or of old failures only',
  }),
};
const failureSchema = z.object(failureFields).meta({ id: 'TestFailure' });
type Failure = z.output<typeof failureSchema>;
type UncausedFailure = Omit<Failure, 'cause_id'>;
const nullableText = (example: string) => z.string().nullable().meta({ example });
const eventSchema = z
  .object({
    id: z.string().meta({ example: '1234567890123456789.1' }),
    failed_at: common.dateTimeOut,
    exception_stacktrace: nullableText('AssertionError: expected 3 to equal 4\n    at cart.test.ts:12:5'),
    test_filepath: nullableText('src/cart.test.ts'),
    test_programming_language: nullableText('javascript'),
    job_url: nullableText('https://ci.example.com/runs/1001').optional(),
    attachments: common.attachmentsOut,
  })
  .meta({ id: 'TestFailureEvent' });

const failuresSchema = z.object({ failures: z.array(failureSchema) });
export type TestFailures = z.output<typeof failuresSchema>;
const detailSchema = z.object({ ...failureFields, latest_events: z.array(eventSchema) });
export type TestFailure = z.output<typeof detailSchema>;

const failuresAddress = '/v1/ci/:owner/repositories/:repository_name/tests/:test_id/failures';

export function mountFailures(app: AnyElysia, http: Http, deps: common.InsightsDeps): void {
  const reads = RepositoryBatches.byKey((id, testIds) =>
    onPostgres(() => newestFailureGroups(deps.db, id, testIds, GROUPS_MAX)),
  );
  const causes = causesByTest(deps);
  mount(app, http, 'GET', failuresAddress, {
    operationId: 'listTestFailures',
    tag: common.TAG,
    summary: 'Get test failures',
    description: `Groups of failures with the same exception type and normalised message, newest first; at most the ${GROUPS_MAX} newest.`,
    access: 'read',
    params: common.testPath,
    query: { axis: axisFilterParameter('Only failures in legs with these values, as `name:value`.') },
    responses: { 200: { description: 'The failure groups.', schema: failuresSchema } },
    isCoalesced: true,
    handle: async ({ params: path, query: { axis }, signal }) => {
      const { repository, testId } = await common.testAsked(deps, path);
      const [failures, causeOf] = await Promise.all([
        axis.length === 0
          ? reads.get(repository, testId).then((groups) => (groups ?? []).map(groupJson))
          : failuresOnAxes(deps, { repository, testId, axes: axis }, signal),
        causes.get(repository, testId),
        deps.knownTests.get(repository, testId),
      ]);
      return { body: { failures: failures.map((one) => ({ ...one, cause_id: causeOf?.get(one.id) ?? null })) } };
    },
  });
}

/** The causes of the groups of tests, by failure id. */
const causesByTest = ({ db }: common.InsightsDeps) =>
  RepositoryBatches.byKey(async (id, testIds) => {
    const found = await onPostgres(() => causesOfGroups(db, id, testIds));
    const byTest = Map.groupBy(found, ({ testId }) => testId);
    return new Map(
      [...byTest].map(([testId, groups]) => [
        testId,
        new Map(groups.map(({ failureId, causeId }) => [failureId, causeId])),
      ]),
    );
  });

function groupJson({ failureId, newest, ...group }: FailureGroupRecord): UncausedFailure {
  const { failures, firstAt } = totalsOf(group);
  return {
    id: failureId,
    exception_type: newest.exceptionType,
    exception_message: newest.exceptionMessage,
    failure_count: failures,
    first_failure_at: formatMoment(firstAt),
    last_failure_at: formatMoment(newest.failedAt),
  };
}

interface OnAxes {
  repository: Repository;
  testId: string;
  axes: AxisFilter;
}

async function failuresOnAxes(
  { clickhouse }: common.InsightsDeps,
  { repository: { id, owner }, testId, axes }: OnAxes,
  signal?: AbortSignal,
): Promise<UncausedFailure[]> {
  const asked = { repository_id: id, test_id: testId, groups: GROUPS_MAX, ...axisValues(axes) };
  const rows = await clickhouse.select(groupsOnAxes, asked, { owner, signal });
  return rows.map((row) => ({
    id: row.failure,
    exception_type: row.type,
    exception_message: row.message,
    failure_count: row.events,
    first_failure_at: formatMoment(row.first_ms),
    last_failure_at: formatMoment(row.last_ms),
  }));
}

export function mountFailure(app: AnyElysia, http: Http, deps: common.InsightsDeps): void {
  const causes = causesByTest(deps);
  mount(app, http, 'GET', `${failuresAddress}/:failure_id`, {
    operationId: 'getTestFailure',
    tag: common.TAG,
    summary: 'Get test failure',
    description: `One failure group with its ${LATEST_EVENTS} newest events. An id from before an upgrade that regrouped failures leads to the group that has the newest of them now, under its new id.`,
    access: 'read',
    params: common.testPath.extend({
      failure_id: uuid5(
        'The failure group, as returned by the list of failures.',
        '1c0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c12',
      ),
    }),
    responses: {
      200: {
        description: 'The failure group.',
        schema: detailSchema,
      },
    },
    isCoalesced: true,
    handle: async ({ params: path, signal }) => {
      const { repository, testId } = await common.testAsked(deps, path);
      const read = async (failureId: string) => {
        const asked = { repository_id: repository.id, test_id: testId, failure_id: failureId };
        const [row] = await deps.clickhouse.select(
          group,
          { ...asked, latest: LATEST_EVENTS },
          { owner: path.owner, signal },
        );
        return row?.latest_events[0] && { failureId, ...row };
      };
      let row = await read(path.failure_id);
      if (!row) {
        const successor = await successorOf(deps.db, repository.id, testId, path.failure_id);
        if (successor !== undefined) row = await read(successor);
      }
      const newest = row?.latest_events[0];
      if (!row || !newest) throw notFound('This test has no such failure. Its failures are listed at …/failures.');
      const body = {
        id: row.failureId,
        exception_type: newest.type,
        exception_message: newest.message,
        failure_count: row.events,
        first_failure_at: formatMoment(row.first_ms),
        last_failure_at: formatMoment(row.last_ms),
        cause_id: (await causes.get(repository, testId))?.get(row.failureId) ?? null,
        latest_events: row.latest_events.map((event) => ({
          id: `${event.execution_id}.${event.attempt}`,
          failed_at: formatMoment(event.failed_ms),
          exception_stacktrace: event.stacktrace || null,
          test_filepath: event.filepath || null,
          test_programming_language: event.language || null,
          job_url: event.job_url || null,
          attachments: attachmentsOf(event.attachments),
        })),
      };
      return { body };
    },
  });
}
