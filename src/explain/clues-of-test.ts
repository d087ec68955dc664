/** What commits show about a test (src/domain/clues.ts), with what an explanation shows about it. */
import { z } from 'zod';
import type { ClickHouse } from '../clickhouse/client.ts';
import { defineQuery } from '../clickhouse/query.ts';
import { isContradiction, isOfOtherLegs } from '../domain/clues.ts';
import type { Contradiction } from '../domain/contradictions.ts';
import { comparePositions } from '../domain/execution.ts';
import type { OtherLegsClue } from '../domain/other-legs.ts';
import { identityKey } from '../domain/test-identity.ts';
import { type Database, onPostgres } from '../postgres/client.ts';
import { readClues } from '../postgres/clues.ts';
import { type ExplainedExecution, explainedColumns, explainedOf } from './explained-execution.ts';
import { type MeaningfulRun, RunsOfExecutions } from './runs-of-executions.ts';

/** Runs off the default branch that contradictions name. */
const pulls = defineQuery(
  'evaluation/explain_pulls',
  { repository_id: 'UUID', test_id: 'UUID', from_ms: 'Int64', to_ms: 'Int64', execution_ids: 'Array(UInt64)' },
  explainedColumns
    .extend({ pull_request: z.number() })
    .transform((row): ExplainedExecution => ({ ...explainedOf(row), pullRequest: row.pull_request })),
);

/** A contradiction with the failure that it names, and its run. */
export interface FoundContradiction {
  contradiction: Contradiction;
  execution: ExplainedExecution;
  run: MeaningfulRun;
}

/** By `identityKey`, each in order. */
export interface CluesOfTest {
  contradictions: ReadonlyMap<string, readonly FoundContradiction[]>;
  otherLegs: ReadonlyMap<string, readonly OtherLegsClue[]>;
}

interface CluesAsked {
  repositoryId: string;
  testId: string;
  /** When what shows them finished, in milliseconds since the epoch; both included. */
  from: number;
  to: number;
}

export async function readCluesOfTest(
  { clickhouse, db }: { clickhouse: ClickHouse; db: Database },
  { repositoryId, testId, from, to }: CluesAsked,
): Promise<CluesOfTest> {
  const found = (await onPostgres(() => readClues(db, repositoryId, [testId])))
    .filter(({ at }) => at.finishedAt >= from && at.finishedAt <= to)
    .sort((one, other) => comparePositions(one.at, other.at));
  const contradictions = await withFailures(
    { clickhouse, db },
    { repositoryId, testId },
    found.filter(isContradiction),
  );
  return {
    contradictions: Map.groupBy(contradictions, ({ execution }) => identityKey(execution)),
    otherLegs: Map.groupBy(found.filter(isOfOtherLegs), identityKey),
  };
}

async function withFailures(
  { clickhouse, db }: { clickhouse: ClickHouse; db: Database },
  { repositoryId, testId }: Pick<CluesAsked, 'repositoryId' | 'testId'>,
  found: readonly Contradiction[],
): Promise<FoundContradiction[]> {
  if (found.length === 0) return [];
  const times = found.map(({ failure }) => failure.finishedAt);
  const failures = await clickhouse.select(pulls, {
    repository_id: repositoryId,
    test_id: testId,
    from_ms: Math.min(...times),
    to_ms: Math.max(...times),
    execution_ids: found.map(({ failure }) => BigInt(failure.executionId)),
  });
  const byId = new Map(failures.map((one) => [String(one.executionId), one]));
  const runs = await RunsOfExecutions.readPulls(db, repositoryId, failures);
  return found.flatMap((contradiction) => {
    const execution = byId.get(contradiction.failure.executionId);
    const run = execution && runs.ofPull(execution);
    return run ? [{ contradiction, execution, run }] : [];
  });
}
