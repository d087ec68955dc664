/**
 * What is known of the failures with which episodes of health began. It is looked up once, when the health changes, and kept
 * with the change: the executions leave with their month.
 */
import { z } from 'zod';
import type { ClickHouse } from '../clickhouse/client.ts';
import { defineQuery } from '../clickhouse/query.ts';
import type { BeliefChange } from '../domain/belief-course.ts';
import type { BeginningRecord, HealthChangeRecord } from '../postgres/health-changes.ts';
import { type Identity, identityKey, TESTS_MAX } from './store.ts';

/** A change of health as it follows from the executions. */
export type IdentifiedChange = Identity & BeliefChange;

/** Finds what is known of some beginnings, by execution id. */
export type FindBeginnings = (changes: readonly IdentifiedChange[]) => Promise<ReadonlyMap<string, FoundBeginning>>;
type FoundBeginning = Pick<BeginningRecord, 'exceptionType' | 'pullRequest'>;

const beginnings = defineQuery(
  'evaluation/beginnings',
  {
    repository_id: 'UUID',
    test_ids: 'Array(UUID)',
    execution_ids: 'Array(UInt64)',
    from_ms: 'Int64',
    to_ms: 'Int64',
  },
  z.object({
    execution_id: z.string(),
    pull_request: z.int(),
    exception_type: z.string(),
    has_failure: z.coerce.boolean(),
  }),
);

export const beginningsIn =
  (clickhouse: ClickHouse, repositoryId: string): FindBeginnings =>
  async (changes) => {
    const found = new Map<string, FoundBeginning>();
    const asked = changes.flatMap(({ testId, beginning }) => (beginning ? [{ testId, ...beginning }] : []));
    for (let from = 0; from < asked.length; from += TESTS_MAX) {
      const batch = asked.slice(from, from + TESTS_MAX);
      const times = batch.map(({ finishedAt }) => finishedAt);
      const rows = await clickhouse.select(beginnings, {
        repository_id: repositoryId,
        test_ids: [...new Set(batch.map(({ testId }) => testId))],
        execution_ids: [...new Set(batch.map(({ executionId }) => BigInt(executionId)))],
        from_ms: Math.min(...times),
        to_ms: Math.max(...times),
      });
      for (const row of rows)
        found.set(row.execution_id, {
          exceptionType: row.has_failure ? row.exception_type : null,
          pullRequest: row.pull_request || null,
        });
    }
    return found;
  };

/** Changes as they are stored. What `known` ones say of the same beginning stays where nothing else is found. */
export function recordsOf(
  changes: readonly IdentifiedChange[],
  known: readonly HealthChangeRecord[],
  found: ReadonlyMap<string, FoundBeginning>,
): HealthChangeRecord[] {
  const before = byBeginning(known);
  return changes.map(({ testId, pipelineName, jobName, at, before: was, after, beginning }) => ({
    ...{ testId, pipelineName, jobName, at, before: was, after },
    beginning: beginning && {
      executionId: beginning.executionId,
      commit: beginning.commit,
      ...(found.get(beginning.executionId) ??
        before.get(beginningKey({ testId, pipelineName, jobName }, beginning)) ??
        NOTHING),
    },
  }));
}

/** The same, without looking for what is known. */
export async function newRecordsOf(
  changes: readonly IdentifiedChange[],
  known: readonly HealthChangeRecord[],
  find: FindBeginnings,
): Promise<HealthChangeRecord[]> {
  const before = byBeginning(known);
  const unknown = changes.filter((one) => one.beginning && !before.has(beginningKey(one, one.beginning)));
  return recordsOf(changes, known, unknown.length === 0 ? new Map() : await find(unknown));
}

const NOTHING: FoundBeginning = { exceptionType: null, pullRequest: null };

const byBeginning = (known: readonly HealthChangeRecord[]): Map<string, FoundBeginning> =>
  new Map(
    known.flatMap((one) => {
      if (!one.beginning) return [];
      const { exceptionType, pullRequest } = one.beginning;
      return [[beginningKey(one, one.beginning), { exceptionType, pullRequest }] as const];
    }),
  );

const beginningKey = (identity: Identity, { executionId }: { executionId: string }): string =>
  `${identityKey(identity)}\0${executionId}`;
