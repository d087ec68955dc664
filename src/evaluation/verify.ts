/** Computes verdicts and health of every test anew from the raw executions and compares them with what is stored. */
import { z } from 'zod';
import type { ClickHouse } from '../clickhouse/client.ts';
import { DAY_MS } from '../domain/judgement-constants.ts';
import { endOfMonth } from '../domain/retention.ts';
import { type Database, onPostgres } from '../postgres/client.ts';
import { repositories } from '../postgres/schema.ts';
import { flakyOf } from './evaluate.ts';
import { beginning, continueFold } from './fold.ts';
import { EvaluationStore, type HealthRow, type IdentifiedExecution, identityKey } from './store.ts';

const TESTS_AT_ONCE = 2_000;
const EXECUTIONS_AT_ONCE = 100_000;
/** Runs of one commit lie within this time of each other, as good as always. */
const EDGE_MS = 30 * DAY_MS;

/** A sentence for every difference. */
export async function verifyJudgements(clickhouse: ClickHouse, db: Database, repositoryId?: string): Promise<string[]> {
  const settings = await onPostgres(() =>
    db.select({ id: repositories.id, isEnabled: repositories.flakyDetectionEnabled }).from(repositories),
  );
  const isEnabled = new Map(settings.map((repository) => [repository.id, repository.isEnabled]));
  const differences: string[] = [];
  for await (const { repositoryId: id, testIds } of testsOnDefaultBranches(clickhouse, repositoryId)) {
    const store = new EvaluationStore(clickhouse, id);
    differences.push(...(await differencesOf(store, testIds, isEnabled.get(id) ?? true)));
  }
  return differences;
}

/** All tests with conclusive executions on a default branch, in groups of one repository that fit into memory. */
export async function* testsOnDefaultBranches(clickhouse: ClickHouse, repositoryId?: string) {
  const scope = repositoryId === undefined ? '' : 'AND repository_id = {repository_id: UUID}';
  const rows = z.array(z.object({ repository_id: z.string(), test_id: z.string(), executions: z.number() })).parse(
    await clickhouse.rows(
      `SELECT repository_id, test_id, count() AS executions FROM ci.executions
       WHERE on_default AND status != 'skipped' ${scope}
       GROUP BY repository_id, test_id ORDER BY repository_id, test_id`,
      repositoryId === undefined ? {} : { repository_id: repositoryId },
    ),
  );
  for (const [id, tests] of Map.groupBy(rows, (row) => row.repository_id)) {
    let testIds: string[] = [];
    let executions = 0;
    for (const test of tests) {
      const isFull = testIds.length >= TESTS_AT_ONCE || executions + test.executions > EXECUTIONS_AT_ONCE;
      if (testIds.length > 0 && isFull) {
        yield { repositoryId: id, testIds };
        testIds = [];
        executions = 0;
      }
      testIds.push(test.test_id);
      executions += test.executions;
    }
    yield { repositoryId: id, testIds };
  }
}

async function differencesOf(store: EvaluationStore, testIds: string[], isEnabled: boolean): Promise<string[]> {
  const executions = await store.history(testIds, 0);
  const storedFlaky = await store.flaky(testIds, 0);
  const stored = new Map((await store.folds(testIds)).map((row) => [identityKey(row), row]));
  const differences: string[] = [];
  for (const [key, group] of Map.groupBy(executions, identityKey)) {
    const flaky = new Set(isEnabled ? flakyOf(group).keys() : []);
    for (const execution of lostEvidence(group, stored.get(key))) if (storedFlaky.has(execution)) flaky.add(execution);
    if (isEnabled)
      for (const { executionId, testId } of group)
        if (flaky.has(executionId) !== storedFlaky.has(executionId))
          differences.push(
            `execution ${executionId} of test ${testId} is ${flaky.has(executionId) ? '' : 'not '}flaky, stored is the opposite`,
          );
    differences.push(...healthDifferences(key, group, stored.get(key), flaky));
  }
  return differences;
}

/** Executions next to a month that has left: what contradicted them may have left with it, and the verdict stands. */
function lostEvidence(executions: readonly IdentifiedExecution[], stored: HealthRow | undefined): bigint[] {
  const edge = stored?.baseline.at ? endOfMonth(stored.baseline.at.finishedAt) : 0;
  return executions
    .filter((execution) => execution.finishedAt < edge + EDGE_MS)
    .map((execution) => execution.executionId);
}

function healthDifferences(
  key: string,
  executions: readonly IdentifiedExecution[],
  stored: HealthRow | undefined,
  flaky: ReadonlySet<bigint>,
): string[] {
  const { end } = continueFold(stored?.baseline ?? beginning(), executions, flaky);
  if (!stored) return [`${key} has no health, it is ${end.state.health}`];
  return stored.health === end.state.health ? [] : [`${key} is ${end.state.health}, stored is ${stored.health}`];
}
