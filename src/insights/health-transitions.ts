/** When a test became flaky, broken or healthy. */
import type { AnyElysia } from 'elysia';
import { z } from 'zod';
import { healthTransitions } from '../domain/health-transitions.ts';
import { formatMoment } from '../domain/moment.ts';
import { HEALTHS } from '../domain/status.ts';
import { type Http, mount } from '../http/operation.ts';
import { onPostgres } from '../postgres/client.ts';
import { readHealthHistories } from '../postgres/health-histories.ts';
import { RepositoryBatches } from './batches.ts';
import * as common from './common.ts';
import { unknownTest } from './known-tests.ts';
import { pullSchema, pullSummary } from './pull-summary.ts';
import { checkedWindow, windowParameters } from './window.ts';

const response = z.object({
  transitions: z.array(
    z.object({
      at: common.dateTimeOut,
      health_status: z.enum(HEALTHS).meta({ description: 'From then on', example: 'flaky' }),
      exception_type: z
        .string()
        .nullable()
        .meta({ description: 'Of the first failure of the episode; null on recovery', example: 'TimeoutError' }),
      pull_request: pullSchema.nullable().meta({
        description: 'The one that ran that failure or was merged as its commit, if known; null on recovery',
      }),
    }),
  ),
  first_activity_at: common.dateTimeOut.nullable().meta({ description: 'Its oldest retained execution' }),
});

const address = '/v1/ci/:owner/repositories/:repository_name/tests/:test_id/health-transitions';

export function mountHealthTransitions(app: AnyElysia, http: Http, deps: common.InsightsDeps): void {
  const histories = RepositoryBatches.byKey((id, testIds) =>
    onPostgres(() => readHealthHistories(deps.db, id, testIds)),
  );
  mount(app, http, 'GET', address, {
    operationId: 'listHealthTransitions',
    tag: common.TAG,
    summary: 'List when the health of a test changed',
    description:
      'When the test became flaky, broken or healthy on the default branch in the window, oldest first; neighbours differ. A test is as the worst of the pipelines and CI jobs in which it runs.',
    access: 'read',
    params: common.testPath,
    query: windowParameters(),
    responses: { 200: { description: 'The transitions.', schema: response } },
    isCoalesced: true,
    handle: async ({ params: path, query, signal }) => {
      const { start, end } = checkedWindow(query, deps.clock.now());
      const { repository, testId } = await common.testAsked(deps, path);
      const history = await histories.get(repository, testId, signal);
      if (!history) throw unknownTest();
      const listed = healthTransitions(history.identities).filter(({ at }) => at >= start && at < end);
      return {
        body: {
          transitions: listed.map(({ at, health, cause }) => ({
            at: formatMoment(at),
            health_status: health,
            exception_type: cause?.exceptionType ?? null,
            pull_request: cause?.pull ? pullSummary(cause.pull) : null,
          })),
          first_activity_at: history.firstAt === null ? null : formatMoment(history.firstAt),
        },
      };
    },
  });
}
