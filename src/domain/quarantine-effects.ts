/**
 * Counts the effect of quarantines: of those that are open now, with their terms of now. Pure.
 *
 * - A failed execution is excused if it failed after the quarantine began, and the quarantine covers it (covers in
 *   quarantine-scope.ts) on the branch of its run or the base of that branch.
 * - A *red run* is an attempt of a leg of a CI job on one UTC day in which a test failed. It is *spared* if quarantines excuse every
 *   failure in it.
 */
import { axisPairs } from './axis-scope.ts';
import { branchExpression } from './branch-pattern.ts';
import type { QuarantineScope } from './quarantine-scope.ts';
import { DAY_MS } from './time.ts';

/** Older executions are not counted. */
export const EFFECT_DAYS = 90;
/** Quarantines whose effects are counted at once; the oldest of more. */
export const EFFECTS_MAX = 1_000;
/** Their scopes may take so much together; a request to the store has room for five times as much. */
const CHARACTERS_MAX = 200_000;
const UUID_LENGTH = 36;

export interface CountedQuarantine extends QuarantineScope {
  testId: string;
  createdAt: Date;
}

/** The longest beginning of a list of quarantines that can be counted at once. */
export function countable<Q extends CountedQuarantine>(quarantines: readonly Q[]): Q[] {
  let characters = 0;
  const end = quarantines.findIndex((one) => {
    characters += charactersOf(one);
    return characters > CHARACTERS_MAX;
  });
  return quarantines.slice(0, Math.min(end < 0 ? EFFECTS_MAX : end, EFFECTS_MAX));
}

const charactersOf = ({ branch, pipelineName, jobName, axes, failureIds }: QuarantineScope): number =>
  UUID_LENGTH * (2 + (failureIds?.length ?? 0)) +
  (branch?.length ?? 0) +
  (pipelineName?.length ?? 0) +
  (jobName?.length ?? 0) +
  axisPairs(axes).reduce((sum, [name, value]) => sum + name.length + value.length, 0);

/** Since when failures are counted for a quarantine; milliseconds since the epoch. */
export const countedSince = ({ createdAt }: Pick<CountedQuarantine, 'createdAt'>, now: number): number =>
  Math.max(createdAt.getTime(), now - EFFECT_DAYS * DAY_MS);

/** Scopes as parallel lists; the place in them, from 1 on, is the number of a quarantine. */
export function scopeLists(quarantines: readonly CountedQuarantine[], now: number) {
  const axes = quarantines.flatMap((one, i) =>
    axisPairs(one.axes).map(([name, value]) => ({ number: i + 1, name, value })),
  );
  return {
    since_ms: Math.min(now, ...quarantines.map((one) => countedSince(one, now))),
    test_ids: quarantines.map(({ testId }) => testId),
    begun_ms: quarantines.map((one) => countedSince(one, now)),
    branches: quarantines.map(({ branch }) => (branch === null ? '' : branchExpression(branch))),
    pipelines: quarantines.map(({ pipelineName }) => pipelineName ?? ''),
    jobs: quarantines.map(({ jobName }) => jobName ?? ''),
    failure_ids: quarantines.flatMap(({ failureIds }) => failureIds ?? []),
    failure_numbers: quarantines.flatMap(({ failureIds }, i) => (failureIds ?? []).map(() => i + 1)),
    narrowed_test_ids: quarantines.filter(({ failureIds }) => failureIds !== null).map(({ testId }) => testId),
    axis_numbers: axes.map(({ number }) => number),
    axis_names: axes.map(({ name }) => name),
    axis_values: axes.map(({ value }) => value),
  };
}
