/** Reads in which legs a test ran, and says which axis explains its failures. */
import { z } from 'zod';
import type { ClickHouse } from '../clickhouse/client.ts';
import { defineQuery } from '../clickhouse/query.ts';
import type { AxisExplanation } from '../domain/axis-explanation.ts';
import { axisSentence } from '../domain/axis-words.ts';
import { type LegCounts, whereItFails } from '../domain/where-it-fails.ts';
import type { Window } from '../domain/window.ts';
import type { Turn } from '../fair-queue.ts';
import { type FailsWith, TERMS_MAX } from './fails-with-schema.ts';

/** 40 legs for a month with 40 commits a day. */
export const LEG_EXECUTIONS_MAX = 50_000;

const executionsOfLegs = defineQuery(
  'insights/legs_of_test',
  { repository_id: 'UUID', test_id: 'UUID', start_ms: 'Int64', end_ms: 'Int64', executions: 'UInt32' },
  z.object({
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

interface LegsOfTest {
  /** Whether all executions of the window were considered. */
  isComplete: boolean;
  /** The one with the most failures comes first. */
  legs: LegCounts[];
  failsWith: FailsWith;
}

/** From the newest {@link LEG_EXECUTIONS_MAX} executions. Ask only for a test that failed: others have nothing to explain. */
export async function legsOfTest(
  clickhouse: Pick<ClickHouse, 'select'>,
  { repositoryId, testId, window }: TestInWindow,
  turn?: Turn,
): Promise<LegsOfTest> {
  const asked = {
    repository_id: repositoryId,
    test_id: testId,
    start_ms: window.start,
    end_ms: window.end,
    executions: LEG_EXECUTIONS_MAX + 1,
  };
  const rows = await clickhouse.select(executionsOfLegs, asked, turn);
  const newest = rows.slice(0, LEG_EXECUTIONS_MAX).reverse();
  const { legs, explanation } = whereItFails(
    newest.map((row) => ({
      pipelineName: row.pipeline,
      jobName: row.job,
      axes: row.leg,
      commit: row.tested,
      day: row.day,
      isFailed: row.is_failed,
    })),
  );
  return {
    isComplete: rows.length <= LEG_EXECUTIONS_MAX,
    legs,
    failsWith: documentOf(explanation, legs.length),
  };
}

function documentOf(explanation: AxisExplanation, legs: number): FailsWith {
  const said = { kind: explanation.kind, sentence: axisSentence(explanation, legs) };
  const probability = 'probability' in explanation ? Math.round(1_000 * explanation.probability) / 1_000 : null;
  if (!('terms' in explanation))
    return { ...said, terms: [], probability, commits_count: null, inside: null, outside: null };
  const { terms, strata, inside, outside } = explanation;
  return {
    ...said,
    terms: terms.slice(0, TERMS_MAX).map((term) => term.map(({ axis, values }) => ({ axis, values: [...values] }))),
    probability,
    commits_count: strata,
    inside,
    outside,
  };
}
