/**
 * A *suspect*: an identity that has failed, passed only after failed attempts, or been contradicted. All others are a number
 * of passes (only-passed.ts). A suspect carries the executions of its last day in order, with what was believed before them
 * and after them, so that executions that arrive late find their place without a look at the history. Pure.
 *
 *     … ──► before ──► recent, in order, of one day and at most 200 ──► after
 *
 * `after` is always folded from `before`. What is too old for `recent` is folded into `before`. An execution that belongs
 * there is *too late*: the caller judges the suspect again from the stored executions.
 */
import type { BeliefAt } from './belief.ts';
import { type BeliefCourse, undecided } from './belief-course.ts';
import type { Contradiction } from './contradictions.ts';
import { comparePositions, isTrouble, type JudgedExecution, type Position } from './execution.ts';
import { followCourse, type KnownRuns } from './judge-runs.ts';
import { hasOnlyPassed, passedOnly } from './only-passed.ts';
import { DAY_MS } from './time.ts';

/** How long executions stay in `recent`. Jobs of one commit arrive within hours of each other. */
const RECENT_MS = DAY_MS;
/** With 50, some 20 suspects in a million executions are judged again; 1,000 make rows five times as slow to write. */
const RECENT_MAX = 200;

export interface Suspect {
  before: BeliefAt;
  /** Passed and failed, in order. */
  recent: readonly JudgedExecution[];
  after: BeliefAt;
  /** Ids of executions that count as flaky, of those of which that may still change: {@link openExecutions}. */
  flaky: ReadonlySet<string>;
  /** Ids of executions from before `recent`, of those of which that may still change: see `BeliefCourse`. */
  flakyForGood: ReadonlySet<string>;
}

/** An identity with nothing but passes behind it. */
export interface CountedPasses {
  passes: number;
  /** The last of them; null without passes. */
  at: Position | null;
  /** The commit of the last one. */
  commit: string;
}

/** The belief about an identity that has done nothing but pass. */
export const beliefOfPasses = ({ passes, at, commit }: CountedPasses): BeliefAt | undefined =>
  passes === 0 || at === null ? undefined : { at, belief: passedOnly(passes, commit) };

/** The suspect before anything is folded. */
export const newSuspect = (before: BeliefAt, recent: readonly JudgedExecution[] = []): Suspect => ({
  before,
  recent: recent.toSorted(comparePositions),
  after: before,
  flaky: new Set(),
  flakyForGood: new Set(),
});

/**
 * Puts executions in their places.
 *
 * @param added passed and failed, in any order
 * @returns `tooLate`: those that belong before `recent`. Passes are only counted while nothing but passes came before.
 */
export function withExecutions(
  { before, recent, ...rest }: Suspect,
  added: readonly JudgedExecution[],
): { suspect: Suspect; tooLate: JudgedExecution[] } {
  const tooLate: JudgedExecution[] = [];
  const placed: JudgedExecution[] = [];
  let passes = 0;
  for (const execution of added)
    if (before.at === null || comparePositions(execution, before.at) > 0) placed.push(execution);
    else if (!isTrouble(execution) && hasOnlyPassed(before.belief)) passes++;
    else tooLate.push(execution);
  const counted = { ...before, belief: { ...before.belief, passes: before.belief.passes + passes } };
  const suspect = {
    ...rest,
    before: passes === 0 ? before : counted,
    recent: placed.length === 0 ? recent : [...recent, ...placed].sort(comparePositions),
  };
  return { suspect, tooLate };
}

/** Whether what was healthy at a moment follows from the suspect: its `before` is from earlier. */
export const reachesBackTo = ({ before }: Pick<Suspect, 'before'>, moment: number): boolean =>
  before.at === null || before.at.finishedAt < moment;

/** When the executions finished of which it may change whether they count as flaky; by id, in milliseconds since the epoch. */
export function openExecutions({ before, recent }: Pick<Suspect, 'before' | 'recent'>): Map<string, number> {
  const open = new Map(undecided(before.belief).map(({ executionId, finishedAt }) => [executionId, finishedAt]));
  for (const execution of recent)
    if (isTrouble(execution)) open.set(String(execution.executionId), execution.finishedAt);
  return open;
}

/** Where the suspect ran, and what is known around it. */
export interface SuspectContext {
  /** `jobKey` of it. */
  job: string;
  contradictions: readonly Contradiction[];
  runs: KnownRuns;
}

/**
 * The suspect once its course is known: what is too old for `recent` moves into `before`.
 *
 * @param course from `before` to the end
 */
export function afterCourse(
  { before, recent, flakyForGood }: Suspect,
  course: BeliefCourse,
  { job, contradictions, runs }: SuspectContext,
): Suspect {
  const after = { at: course.at, belief: course.belief };
  const oldest = (recent.at(-1)?.finishedAt ?? 0) - RECENT_MS;
  let cut = Math.max(0, recent.length - RECENT_MAX);
  while (cut < recent.length && (recent[cut]?.finishedAt ?? 0) < oldest) cut++;
  const last = recent[cut - 1];
  if (!last) return { before, recent, after, flaky: openIn({ before, recent }, course.flaky), flakyForGood };
  const moved = followCourse(
    {
      ...before,
      place: job,
      executions: recent.slice(0, cut),
      contradictions: contradictions.filter(({ at }) => comparePositions(at, last) <= 0),
      flakyForGood,
    },
    runs,
  );
  const kept = { before: { at: moved.at, belief: moved.belief }, recent: recent.slice(cut) };
  const undecidedIds = new Set(undecided(moved.belief).map(({ executionId }) => executionId));
  return {
    ...kept,
    after,
    flaky: openIn(kept, course.flaky),
    flakyForGood: undecidedIds.intersection(moved.flakyForGood),
  };
}

const openIn = (suspect: Pick<Suspect, 'before' | 'recent'>, flaky: ReadonlySet<string>): Set<string> =>
  new Set([...openExecutions(suspect).keys()].filter((id) => flaky.has(id)));

/** An execution that began or ceased to count as flaky. */
export interface FlakyChange {
  executionId: string;
  /** Milliseconds since the epoch. */
  finishedAt: number;
  isFlaky: boolean;
}

/**
 * Which executions count as flaky now and did not, and the other way round.
 *
 * @param suspect as it was folded: before {@link afterCourse}, with what counted before in `flaky`
 * @param flaky ids of those that count now
 */
export function flakyChanges(suspect: Suspect, flaky: ReadonlySet<string>): FlakyChange[] {
  return [...openExecutions(suspect)].flatMap(([executionId, finishedAt]) => {
    const isFlaky = flaky.has(executionId);
    return isFlaky === suspect.flaky.has(executionId) ? [] : [{ executionId, finishedAt, isFlaky }];
  });
}
