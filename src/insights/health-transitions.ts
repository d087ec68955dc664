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
import type { Repository } from '../postgres/repositories.ts';
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
const failuresInARow = defineQuery(
  'insights/failures_in_a_row',
  { repository_id: 'UUID', test_id: 'UUID', execution_ids: 'Array(UInt64)' },
  z.object({ ids: z.array(z.string()), first_id: z.string(), first_commit: z.string() }),
);

/** With which execution an episode began; the commit is empty when unknown. */
interface Beginning {
  executionId: string;
  commit: string;
}

const response = z.object({
  transitions: z.array(
    z.object({
      at: common.dateTimeOut,
      health_status: z.enum(HEALTHS).meta({ description: 'From then on', example: 'flaky' }),
      exception_type: z
        .string()
        .nullable()
        .meta({ description: 'Of the first failure of the episode; null on recovery', example: 'TimeoutError' }),
      pull_request: pullSchema
        .nullable()
        .meta({ description: 'Merged as the commit of that failure, if known; null on recovery' }),
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
      const beginnings = await beginningsOf(deps, repository, path.test_id, causes, signal);
      const known = beginnings.flatMap((one) => one ?? []);
      const commits = [...new Set(known.map(({ commit }) => commit))].filter((commit) => commit !== '');
      const [[row], pulls] = await Promise.all([
        deps.clickhouse.select(
          healthCauses,
          {
            repository_id: repository.id,
            test_id: path.test_id,
            execution_ids: known.map(({ executionId }) => executionId),
          },
          { owner: repository.owner, signal },
        ),
        onPostgres(() => pullRequestsMergedAs(deps.db, repository.id, commits)),
      ]);
      const types = new Map(row?.causes.map(({ execution_id, type }) => [execution_id, type]));
      return {
        body: {
          transitions: listed.map(({ at, health }, i) => {
            const first = beginnings[i];
            const pull = first && pulls.get(first.commit);
            return {
              at: formatMoment(at),
              health_status: health,
              exception_type: (first && types.get(first.executionId)) ?? null,
              pull_request: pull ? pullSummary(pull) : null,
            };
          }),
          first_activity_at: row && row.first_ms > 0 ? formatMoment(row.first_ms) : null,
        },
      };
    },
  });
}

/**
 * A flaky test is broken only after failures on several commits in a row: there, the episode began with the first of them.
 * Everywhere else, one execution decides.
 */
async function beginningsOf(
  { clickhouse }: common.InsightsDeps,
  { id, owner }: Repository,
  testId: string,
  causes: readonly (HealthChangeRecord | undefined)[],
  signal?: AbortSignal,
): Promise<(Beginning | undefined)[]> {
  const last = causes.flatMap((cause) =>
    cause?.before === 'flaky' && cause.after === 'broken' ? cause.at.executionId.toString() : [],
  );
  const asked = { repository_id: id, test_id: testId, execution_ids: last };
  const rows = last.length === 0 ? [] : await clickhouse.select(failuresInARow, asked, { owner, signal });
  const firsts = new Map(rows.flatMap((row) => row.ids.map((lastId) => [lastId, row] as const)));
  return causes.map((cause) => {
    if (!cause) return undefined;
    const executionId = cause.at.executionId.toString();
    // Not found when retention has taken it.
    const first = firsts.get(executionId);
    return first ? { executionId: first.first_id, commit: first.first_commit } : { executionId, commit: cause.commit };
  });
}

const placeOf = ({ pipelineName, jobName }: Pick<HealthChangeRecord, 'pipelineName' | 'jobName'>): string =>
  JSON.stringify([pipelineName, jobName]);
