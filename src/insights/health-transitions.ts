/** When a test became flaky, broken or healthy. */
import type { AnyElysia } from 'elysia';
import { z } from 'zod';
import { defineQuery } from '../clickhouse/query.ts';
import { healthTransitions } from '../domain/health-transitions.ts';
import { formatMoment } from '../domain/moment.ts';
import { HEALTHS } from '../domain/status.ts';
import { type Http, mount } from '../http/operation.ts';
import { onPostgres } from '../postgres/client.ts';
import { type HealthChangeRecord, readHealthChanges } from '../postgres/health-changes.ts';
import { pullRequestsMergedAs } from '../postgres/pull-requests.ts';
import { RepositoryBatches } from './batches.ts';
import * as common from './common.ts';
import { latest } from './known-tests.ts';
import { pullSchema, pullSummary } from './pull-summary.ts';
import { checkedWindow, windowParameters } from './window.ts';

const healthCauses = defineQuery(
  'insights/health_causes',
  { repository_id: 'UUID', test_id: 'UUID', execution_ids: 'Array(UInt64)' },
  z.object({ first_ms: z.int(), causes: z.array(z.object({ execution_id: z.string(), type: z.string() })) }),
);

const response = z.object({
  transitions: z.array(
    z.object({
      at: common.dateTimeOut,
      health_status: z.enum(HEALTHS).meta({ description: 'From then on', example: 'flaky' }),
      exception_type: z
        .string()
        .nullable()
        .meta({ description: 'Of the failure that changed it; null on recovery', example: 'TimeoutError' }),
      pull_request: pullSchema
        .nullable()
        .meta({ description: 'Merged as the commit that failed, if known; null on recovery' }),
    }),
  ),
  first_activity_at: common.dateTimeOut.nullable().meta({ description: 'Its oldest retained execution' }),
});

const address = '/v1/ci/:owner/repositories/:repository_name/tests/:test_id/health-transitions';

export function mountHealthTransitions(app: AnyElysia, http: Http, deps: common.InsightsDeps): void {
  const reads = RepositoryBatches.byKey(async (id, testIds) => {
    const changes = await onPostgres(() => readHealthChanges(deps.db, id, testIds));
    return Map.groupBy(changes, ({ testId }) => testId);
  });
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
      const repository = await common.repositoryOfTest(deps, path.owner, path.repository_name);
      const [changes = [], { identities }] = await Promise.all([
        reads.get(repository, path.test_id, signal),
        deps.knownTests.get(repository, path.test_id),
      ]);
      const byPlace = Map.groupBy(changes, placeOf);
      const histories = identities.flatMap((identity) => {
        const newestAt = latest([identity.summary.lastSuccessAt, identity.summary.lastFailureAt]);
        const of = (byPlace.get(placeOf(identity)) ?? []).map((record) => ({
          at: record.at.finishedAt,
          after: record.after,
          record,
        }));
        return newestAt === null ? [] : [{ changes: of, newestAt }];
      });
      const listed = healthTransitions(histories).filter(({ at }) => at >= start && at < end);
      const causes = listed.map(({ health, cause }) => (health === 'healthy' ? undefined : cause?.record));
      const known = causes.flatMap((cause) => cause ?? []);
      const commits = [...new Set(known.map(({ commit }) => commit))].filter((commit) => commit !== '');
      const [[row], pulls] = await Promise.all([
        deps.clickhouse.select(
          healthCauses,
          {
            repository_id: repository.id,
            test_id: path.test_id,
            execution_ids: known.map(({ at }) => at.executionId.toString()),
          },
          { owner: repository.owner, signal },
        ),
        onPostgres(() => pullRequestsMergedAs(deps.db, repository.id, commits)),
      ]);
      const types = new Map(row?.causes.map(({ execution_id, type }) => [execution_id, type]));
      return {
        body: {
          transitions: listed.map(({ at, health }, i) => {
            const cause = causes[i];
            const pull = cause && pulls.get(cause.commit);
            return {
              at: formatMoment(at),
              health_status: health,
              exception_type: (cause && types.get(cause.at.executionId.toString())) ?? null,
              pull_request: pull ? pullSummary(pull) : null,
            };
          }),
          first_activity_at: row && row.first_ms > 0 ? formatMoment(row.first_ms) : null,
        },
      };
    },
  });
}

const placeOf = ({ pipelineName, jobName }: Pick<HealthChangeRecord, 'pipelineName' | 'jobName'>): string =>
  JSON.stringify([pipelineName, jobName]);
