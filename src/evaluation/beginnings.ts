/**
 * The exception and the pull request of the failures with which episodes of health began. They are looked up once, by a
 * refresh, and kept with the change: the executions leave with their month.
 */
import { z } from 'zod';
import type { ClickHouse } from '../clickhouse/client.ts';
import { defineQuery } from '../clickhouse/query.ts';
import type { BeliefChange } from '../domain/belief-course.ts';
import { type Identity, identityKey, identityOf } from '../domain/test-identity.ts';
import { piecesOf } from '../pieces.ts';
import type { BeginningRecord, HealthChangeRecord } from '../postgres/health-changes.ts';
import { TESTS_MAX } from './executions.ts';

/** A change of health as it follows from the executions. */
export type IdentifiedChange = Identity & BeliefChange;

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

/** Looks up the failures with which some changes began, by execution id. */
export async function findBeginnings(
  clickhouse: ClickHouse,
  repositoryId: string,
  changes: readonly (Identity & { beginning: { executionId: string; finishedAt: number } | null })[],
): Promise<ReadonlyMap<string, FoundBeginning>> {
  const found = new Map<string, FoundBeginning>();
  const asked = changes.flatMap(({ testId, beginning }) => (beginning ? [{ testId, ...beginning }] : []));
  for (const batch of piecesOf(asked, TESTS_MAX)) {
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
}

/** Changes as they are stored. What `known` ones say of the same beginning stays where nothing else is found. */
export function recordsOf(
  changes: readonly IdentifiedChange[],
  known: readonly HealthChangeRecord[],
  found: ReadonlyMap<string, FoundBeginning> = new Map(),
): HealthChangeRecord[] {
  const before = new Map(
    known.flatMap((one) => (one.beginning ? [[beginningKey(one, one.beginning), one.beginning] as const] : [])),
  );
  return changes.map(({ at, before: was, after, beginning, ...identity }) => {
    if (!beginning) return { ...identityOf(identity), at, before: was, after, beginning };
    const { exceptionType, pullRequest } =
      found.get(beginning.executionId) ?? before.get(beginningKey(identity, beginning)) ?? NOTHING;
    return { ...identityOf(identity), at, before: was, after, beginning: { ...beginning, exceptionType, pullRequest } };
  });
}

const NOTHING: FoundBeginning = { exceptionType: null, pullRequest: null };

const beginningKey = (identity: Identity, { executionId }: { executionId: string }): string =>
  `${identityKey(identity)}\0${executionId}`;
