/** Reads what a test did in each of its legs, and explains its failures by them. */
import { z } from 'zod';
import type { ClickHouse } from '../clickhouse/client.ts';
import { defineQuery } from '../clickhouse/query.ts';
import { LEG_EXECUTIONS_MAX, type WhereItFails, whereItFails } from '../domain/where-it-fails.ts';
import type { Window } from '../domain/window.ts';
import type { Turn } from '../fair-queue.ts';

const executionsOfLegs = defineQuery(
  'evaluation/legs_of_test',
  { repository_id: 'UUID', test_ids: 'Array(UUID)', start_ms: 'Int64', end_ms: 'Int64', executions: 'UInt32' },
  z.object({
    /** Of the test in the parameters, from 1. */
    place: z.int(),
    pipeline: z.string(),
    job: z.string(),
    leg: z.string(),
    tested: z.string(),
    day: z.int(),
    is_failed: z.boolean(),
  }),
);

export interface TestInWindow {
  repositoryId: string;
  testId: string;
  window: Window;
}

export interface LegsRead extends WhereItFails {
  /** Whether all executions of the window were considered. */
  isComplete: boolean;
}

/** From the newest {@link LEG_EXECUTIONS_MAX} executions. Ask only for a test that failed: others have nothing to explain. */
export async function readLegs(
  clickhouse: Pick<ClickHouse, 'select'>,
  { repositoryId, testId, window }: TestInWindow,
  turn?: Turn,
): Promise<LegsRead> {
  const found = await readLegsOfTests(clickhouse, { repositoryId, testIds: [testId], window }, turn);
  return found.get(testId) ?? legsOf([]);
}

/** The same of several tests, by test id. Tests that did not run in the window are missing. */
export async function readLegsOfTests(
  clickhouse: Pick<ClickHouse, 'select'>,
  { repositoryId, testIds, window }: Omit<TestInWindow, 'testId'> & { testIds: readonly string[] },
  turn?: Turn,
): Promise<Map<string, LegsRead>> {
  if (testIds.length === 0) return new Map();
  const asked = {
    repository_id: repositoryId,
    test_ids: [...testIds],
    start_ms: window.start,
    end_ms: window.end,
    executions: LEG_EXECUTIONS_MAX + 1,
  };
  const rows = Map.groupBy(await clickhouse.select(executionsOfLegs, asked, turn), ({ place }) => place);
  return new Map(
    [...rows].flatMap(([place, ofTest]) => {
      const testId = testIds[place - 1];
      return testId === undefined ? [] : [[testId, legsOf(ofTest)]];
    }),
  );
}

/** @param rows of one test, the newest first */
const legsOf = (rows: readonly z.infer<(typeof executionsOfLegs)['row']>[]): LegsRead => ({
  isComplete: rows.length <= LEG_EXECUTIONS_MAX,
  ...whereItFails(
    rows
      .slice(0, LEG_EXECUTIONS_MAX)
      .reverse()
      .map((row) => ({
        pipelineName: row.pipeline,
        jobName: row.job,
        axes: row.leg,
        commit: row.tested,
        day: row.day,
        isFailed: row.is_failed,
      })),
  ),
});
