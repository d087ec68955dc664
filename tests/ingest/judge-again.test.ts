/**
 * Judging again since a moment, in as many windows as its size takes, agrees with the executions. Here a few executions
 * are much.
 */
import { test } from 'bun:test';
import { sql } from 'drizzle-orm';
import { z } from 'zod';
import { HOUR_MS } from '../../src/domain/time.ts';
import { changeFlakyExecutions } from '../../src/postgres/flaky-executions.ts';
import { healthChanges, judgedRuns, tests } from '../../src/postgres/schema.ts';
import { noteStale } from '../../src/postgres/stale.ts';
import type { TestRunsJob } from '../../src/queue/test-runs.ts';
import { TEST_NOW } from '../support/clock.ts';
import { setUpIngest } from '../support/ingest.ts';
import { overlappingRunsAgree } from '../support/overlapping-runs.ts';
import { mixedRunsAgree, pullRunsAgree, troubledRunsAgree } from '../support/random-histories.ts';

const ingest = setUpIngest({ executionsAtOnce: 20 });

const HOURS_AGO = [1_000, 55, 30, 100, 500, 480, 53];
let times = 0;

const failedRow = z.object({ testId: z.string(), executionId: z.string(), finishedAt: z.coerce.number() });

/** Has everything since a moment judged again: what is stored of it is wrong, and every failure counts as flaky. */
async function judgeAgain({ owner, name }: TestRunsJob['repository']): Promise<void> {
  const { repositories, postgres, clickhouse } = ingest.stores;
  const repository = await repositories.find(owner, name);
  if (!repository) throw new Error('the repository is not known');
  const repositoryId = repository.id;
  const since = TEST_NOW - (HOURS_AGO[times++ % HOURS_AGO.length] ?? 0) * HOUR_MS;
  const rows = await clickhouse.rows(
    `SELECT test_id AS testId, toString(execution_id) AS executionId, toUnixTimestamp64Milli(finished_at) AS finishedAt
      FROM ci.executions WHERE repository_id = {id: UUID} AND on_default AND status = 'failed'
        AND toUnixTimestamp64Milli(finished_at) >= {since: Int64}`,
    { id: repositoryId, since },
  );
  const failed = rows.map((row) => ({ ...failedRow.parse(row), isFlaky: true }));
  await postgres.db.transaction(async (tx) => {
    await tx.execute(sql`
      update ${judgedRuns} set meaning = null, unexpected = unexpected || expected, expected = '{}'
      where repository_id = ${repositoryId} and started_ms >= ${since}`);
    await changeFlakyExecutions(tx, repositoryId, failed);
    await tx.execute(sql`delete from ${healthChanges} where repository_id = ${repositoryId} and at_ms >= ${since}`);
    const all = await tx.select({ testId: tests.testId }).from(tests).where(sql`repository_id = ${repositoryId}`);
    const testIds = all.map(({ testId }) => testId);
    await noteStale(tx, [{ repositoryId, kind: 'judgements', since, testIds, blockId: 1 }]);
  });
  await ingest.driver.refresh();
}

test('mixed runs are judged again as before', () => mixedRunsAgree(ingest, 2, judgeAgain));

test('troubled runs are judged again as before', () => troubledRunsAgree(ingest, 2, judgeAgain));

test('what commits contradict is judged again as before', () => pullRunsAgree(ingest, 2, judgeAgain));

test('runs that overlap are judged again as before', () => overlappingRunsAgree(ingest, 2, judgeAgain));
