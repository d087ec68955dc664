/**
 * Where a test fails: what its executions say of each leg, and which axis explains its failures. The pipeline and the CI job
 * are compared as axes, because a leg is all three together. Pure.
 */
import { type Axes, axesOf, axesText } from './axes.ts';
import { type AxisExplanation, explainByAxes } from './axis-explanation.ts';
import { type LegNames, type ProposedScope, proposedScope } from './proposed-scope.ts';
import { type Leg, legKey } from './test-identity.ts';

/** The newest executions of a test that are considered: 40 legs for a month with 40 commits a day. */
export const LEG_EXECUTIONS_MAX = 50_000;

/** An execution that passed or failed. */
export interface LegExecution extends Leg {
  commit: string;
  /** Number of its UTC day. */
  day: number;
  /** It failed, or passed only after failed attempts. */
  isFailed: boolean;
}

export interface LegCounts {
  pipelineName: string;
  jobName: string;
  axes: Axes;
  passed: number;
  failed: number;
}

export interface WhereItFails {
  /** The one with the most failures comes first. */
  legs: LegCounts[];
  explanation: AxisExplanation;
  /** The scope of a quarantine that follows the explanation; null if none is proposed. */
  scope: ProposedScope | null;
}

/** @param executions in the order in which they finished */
export function whereItFails(executions: readonly LegExecution[]): WhereItFails {
  const legs = new Map<string, LegCounts>();
  for (const { isFailed, ...execution } of executions) {
    const key = legKey(execution);
    const { pipelineName, jobName, axes } = execution;
    const leg = legs.get(key) ?? { pipelineName, jobName, axes: axesOf(axes), passed: 0, failed: 0 };
    legs.set(key, leg);
    if (isFailed) leg.failed++;
    else leg.passed++;
  }
  const names = namesIn(legs);
  const texts = textsOf(legs, names);
  const results = executions.map((one) => ({
    commit: one.commit,
    day: one.day,
    leg: texts.get(legKey(one)) ?? '',
    isFailed: one.isFailed,
  }));
  const sorted = [...legs].sort(
    ([key, one], [otherKey, other]) =>
      other.failed - one.failed || other.passed - one.passed || (key < otherKey ? -1 : 1),
  );
  const explanation = explainByAxes(results);
  return { legs: sorted.map(([, leg]) => leg), explanation, scope: proposedScope(explanation, names) };
}

/** An axis may have the name of what every leg has. No name of an axis holds a space. */
function namesIn(legs: ReadonlyMap<string, LegCounts>): LegNames {
  const own = new Set([...legs.values()].flatMap(({ axes }) => Object.keys(axes)));
  const free = (name: string): string => (own.has(name) ? `CI ${name}` : name);
  return { pipeline: free('pipeline'), job: free('job') };
}

/** The axes of each leg with its pipeline and CI job, but for what is the same in all of them. */
function textsOf(legs: ReadonlyMap<string, LegCounts>, { pipeline, job }: LegNames): Map<string, string> {
  const whole = [...legs].map(([key, { pipelineName, jobName, axes }]) => {
    const all = { ...axes, [pipeline]: pipelineName, [job]: jobName };
    return [key, Object.entries(all)] as const;
  });
  const counts = new Map<string, number>();
  for (const [name, value] of whole.flatMap(([, axes]) => axes)) {
    const pair = `${name}\0${value}`;
    counts.set(pair, (counts.get(pair) ?? 0) + 1);
  }
  return new Map(
    whole.map(([key, axes]) => [
      key,
      axesText(Object.fromEntries(axes.filter(([name, value]) => (counts.get(`${name}\0${value}`) ?? 0) < legs.size))),
    ]),
  );
}
