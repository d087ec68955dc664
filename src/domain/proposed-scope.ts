/**
 * The scope of a quarantine that follows an explanation by axes: the legs in which the test fails, and no others.
 *
 * A person is proposed it as soon as hardly any failure is elsewhere. An automatic quarantine takes it only if no failure
 * is elsewhere and the explanation is sure: no person looks at it first. Pure.
 */
import { AXES_MAX } from './axes.ts';
import { axisScopeWords } from './axes-in-words.ts';
import type { AxisExplanation } from './axis-explanation.ts';
import { AXIS_VALUES_MAX, axisScopeRejection, type StoredAxisScope } from './axis-scope.ts';
import { appliesInPlace, type QuarantineScope } from './quarantine-scope.ts';
import type { Leg } from './test-identity.ts';

export interface ProposedScope {
  pipelineName: string | null;
  jobName: string | null;
  axes: StoredAxisScope | null;
}

/** The names by which an explanation calls the pipeline and the CI job. */
export interface LegNames {
  pipeline: string;
  job: string;
}

/** Every leg. */
export const WHOLE_SCOPE: ProposedScope = { pipelineName: null, jobName: null, axes: null };
const SURE_MIN = 0.99;

/**
 * Null if it fails elsewhere too, or if no quarantine can say where it fails. Of several terms that nothing tells apart all
 * must hold: each describes the same legs, so this excuses nothing that has not run yet.
 */
export function proposedScope(explanation: AxisExplanation, names: LegNames): ProposedScope | null {
  if (!('terms' in explanation) || !explanation.isOnly) return null;
  const values = new Map<string, string[]>();
  for (const { axis, values: some } of explanation.terms.flat()) {
    const known = values.get(axis);
    values.set(axis, known ? known.filter((value) => some.includes(value)) : [...some]);
  }
  const [pipelines, jobs] = [names.pipeline, names.job].map((name) => {
    const found = values.get(name);
    values.delete(name);
    return found;
  });
  if ((pipelines?.length ?? 1) !== 1 || (jobs?.length ?? 1) !== 1) return null;
  const axes = Object.fromEntries(values);
  const isTooMuch = values.size > AXES_MAX || [...values.values()].some((some) => some.length > AXIS_VALUES_MAX);
  if (isTooMuch || (values.size > 0 && axisScopeRejection(axes) !== null)) return null;
  return {
    pipelineName: pipelines?.[0] ?? null,
    jobName: jobs?.[0] ?? null,
    axes: values.size === 0 ? null : axes,
  };
}

/**
 * The scope of an automatic quarantine: as wide as ever unless the explanation is sure and covers every leg that shows
 * enough evidence. So it never misses a leg for which it is made.
 *
 * @param legs those whose evidence is enough
 */
export function automaticScope(
  { explanation, scope }: { explanation: AxisExplanation; scope: ProposedScope | null },
  legs: readonly Leg[],
): ProposedScope {
  const isSure = 'terms' in explanation && explanation.outside.failed === 0 && explanation.probability >= SURE_MIN;
  return isSure && scope && legs.every((leg) => appliesInPlace(scope, leg)) ? scope : WHOLE_SCOPE;
}

/** The length of a scope in a reason: a leg may have long values. */
const WORDS_LENGTH_MAX = 500;

/** In the reason of an automatic quarantine; empty for every leg. */
export function scopeSentence({
  pipelineName,
  jobName,
  axes,
}: Pick<QuarantineScope, 'pipelineName' | 'jobName' | 'axes'>): string {
  const words = [
    ...(pipelineName === null ? [] : [`in the pipeline ${pipelineName}`]),
    ...(jobName === null ? [] : [`in the CI job ${jobName}`]),
    ...(axes === null ? [] : [`with ${axisScopeWords(axes)}`]),
  ].join(', ');
  return words === '' ? '' : ` Fails only ${words.slice(0, WORDS_LENGTH_MAX).toWellFormed()}.`;
}
