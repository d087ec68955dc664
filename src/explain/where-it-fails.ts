/** Says in which legs a test ran, and which axis explains its failures. */
import type { ClickHouse } from '../clickhouse/client.ts';
import type { AxisExplanation } from '../domain/axis-explanation.ts';
import { orderedAxisScope } from '../domain/axis-scope.ts';
import { axisSentence } from '../domain/axis-words.ts';
import type { ProposedScope } from '../domain/proposed-scope.ts';
import type { LegCounts } from '../domain/where-it-fails.ts';
import { type LegsRead, readLegs, readLegsOfTests, type TestInWindow } from '../evaluation/legs-of-test.ts';
import type { Turn } from '../fair-queue.ts';
import { type FailsWith, TERMS_MAX } from './fails-with-schema.ts';

interface LegsOfTest {
  /** Whether all executions of the window were considered. */
  isComplete: boolean;
  /** The one with the most failures comes first. */
  legs: LegCounts[];
  failsWith: FailsWith;
}

/** Ask only for a test that failed: others have nothing to explain. */
export async function legsOfTest(
  clickhouse: Pick<ClickHouse, 'select'>,
  asked: TestInWindow,
  turn?: Turn,
): Promise<LegsOfTest> {
  const read = await readLegs(clickhouse, asked, turn);
  return { isComplete: read.isComplete, legs: read.legs, failsWith: failsWithOf(read) };
}

/** The same of several tests in one statement, by test id; without those that did not run. */
export async function whereTestsFail(
  clickhouse: Pick<ClickHouse, 'select'>,
  asked: Omit<TestInWindow, 'testId'> & { testIds: readonly string[] },
  turn?: Turn,
): Promise<Map<string, FailsWith>> {
  const read = await readLegsOfTests(clickhouse, asked, turn);
  return new Map([...read].map(([testId, legs]) => [testId, failsWithOf(legs)]));
}

const failsWithOf = ({ explanation, legs, scope }: LegsRead): FailsWith => documentOf(explanation, legs.length, scope);

function documentOf(explanation: AxisExplanation, legs: number, scope: ProposedScope | null): FailsWith {
  const said = { kind: explanation.kind, sentence: axisSentence(explanation, legs), scope: scopeDocument(scope) };
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

const scopeDocument = (scope: ProposedScope | null): FailsWith['scope'] =>
  scope && {
    pipeline_name: scope.pipelineName,
    job_name: scope.jobName,
    axes: scope.axes && orderedAxisScope(scope.axes),
  };
