/**
 * The judgement of a repository: what each of its runs means for a test that fails in it, and what is believed of each
 * identity (test, pipeline, CI job). The two depend on each other: how many failures of a run are unexpected on which
 * tests were healthy, and the health of a test on what its runs explain. They can be told apart, because both look back:
 *
 * - a run is judged by the health of its tests, and by the runs of all CI jobs, before its first execution
 *   finished;
 * - a test is judged by its executions up to now, whose runs began earlier.
 *
 * So there is one result, whatever the order of arrival, and it can be computed from any moment on: what began before the
 * first change stays as it was. An evaluation begins there, a rebuild with the first run.
 */
import { type Belief, keepsFailing } from './belief.ts';
import { BeliefCourse } from './belief-course.ts';
import { type Clue, isOfOtherLegs } from './clues.ts';
import { comparePositions, isTrouble, type JudgedExecution, type Position, runKeyOf } from './execution.ts';
import { PastRuns, type StartedRun, type UsualHours } from './run-surroundings.ts';
import { type MetRun, type RunTrouble, runTroubleOf, type Surroundings } from './run-trouble.ts';
import { HOUR_MS } from './time.ts';

/** The meaning of a run for a test that fails in it: one that is in its count of unexpected failures, and any other. */
export interface RunMeaning {
  unexpected: RunTrouble;
  expected: RunTrouble;
}

export interface JudgedRun extends StartedRun {
  /** {@link runNameOf}. */
  key: string;
  isOnDefaultBranch: boolean;
  /** Null if nothing went wrong in it. */
  meaning: RunMeaning | null;
}

/**
 * Names a run within its repository.
 *
 * @param place its pipeline and CI job.
 * @param run `runKeyOf` its executions; off the default branch, `pullRequestRunKeyOf`.
 */
export const runNameOf = (place: string, run: string): string => `${place}\0${run}`;

/** A run to judge. */
export interface RunToJudge extends Omit<JudgedRun, 'unexpected' | 'meaning'> {
  /** The identities that failed in it, or passed only after failed attempts. */
  troubled: ReadonlySet<string>;
  /** How many other identities did, of which is known what they were before it. */
  others: FailedCount;
}

/** How many identities went wrong in a run: those that were healthy before, and the others. */
interface FailedCount {
  unexpected: number;
  expected: number;
  /** How many of them keep failing (belief.ts). */
  again: { unexpected: number; expected: number };
}

export const noneFailed = (): FailedCount => ({ unexpected: 0, expected: 0, again: { unexpected: 0, expected: 0 } });

/** The state of an identity before a run in which it went wrong. */
export interface FailedMember {
  wasHealthy: boolean;
  keepsFailing: boolean;
}

export function addMember(count: FailedCount, member: FailedMember): void {
  const kind = member.wasHealthy ? 'unexpected' : 'expected';
  count[kind]++;
  if (member.keepsFailing) count.again[kind]++;
}

/** An identity at some moment, and what follows. */
export interface IdentityToJudge {
  /** Its pipeline and CI job. */
  place: string;
  belief: Belief;
  /** The last execution that the belief knows; null before the first. */
  at: Position | null;
  /** On the default branch, in any order; those up to `at` are left out. */
  executions: readonly JudgedExecution[];
  /** In any order; those up to `at` are left out. */
  clues: readonly Clue[];
  /** Ids of executions up to `at`: see `BeliefCourse`. */
  flakyForGood?: ReadonlySet<string>;
  /** Where the course is kept: see `BeliefCourse`. */
  keptAt?: Position | undefined;
}

export interface Judging {
  /** The runs on the default branch that began in the day before the first of `runs`, in any order. */
  recent: readonly StartedRun[];
  /** Counts of all runs that began before the first of `runs`. */
  usual: UsualHours;
  /** At least the runs of every execution and contradiction that is given, if they began before the first of `runs`. */
  known: KnownRuns;
  /** In any order. Off the default branch, only those that a contradiction names. */
  runs: readonly RunToJudge[];
  /** By key: at least every identity that is `troubled` in one of the runs, from before that run. */
  identities: ReadonlyMap<string, IdentityToJudge>;
}

/** A run, with what its `troubled` identities were before it. */
export type RunJudgement = JudgedRun & { members: ReadonlyMap<string, FailedMember> };

export interface JudgedRuns {
  runs: RunJudgement[];
  courses: ReadonlyMap<string, BeliefCourse>;
}

/** Runs by {@link runNameOf}; those in which nothing went wrong may be missing. */
export type KnownRuns = ReadonlyMap<string, Pick<JudgedRun, 'meaning'>>;

type Event = { identity: string; place: string; at: Position } & ({ execution: JudgedExecution } | { clue: Clue });

export function judgeRuns({ recent, usual, runs, identities, ...earlier }: Judging): JudgedRuns {
  const known = new Map(earlier.known);
  const past = new PastRuns(recent.toSorted(compareRuns), usual);
  const courses = new Map([...identities].map(([key, start]) => [key, new BeliefCourse(start)]));
  const events = eventsOf(identities);
  let next = 0;
  const addUntil = (moment: number): void => {
    for (let event = events[next]; event && event.at.finishedAt < moment; event = events[++next])
      addTo(courseOf(courses, event.identity), event, known);
  };
  const judged: RunJudgement[] = [];
  // Runs that began at the same moment do not see each other.
  for (const [startedAt, group] of Map.groupBy([...runs].sort(compareRuns), (run) => run.startedAt)) {
    addUntil(startedAt);
    const surroundings = past.before(startedAt);
    for (const run of group) {
      const one = judgeRun(run, surroundings, (key) => courseOf(courses, key).belief);
      judged.push(one);
      known.set(one.key, one);
      if (one.isOnDefaultBranch) past.add(one);
    }
  }
  addUntil(Number.POSITIVE_INFINITY);
  return { runs: judged, courses };
}

/**
 * The course of one identity through runs that are judged.
 *
 * @param course from an earlier call, to follow further.
 */
export function followCourse(
  identity: IdentityToJudge,
  runs: KnownRuns,
  course = new BeliefCourse(identity),
): BeliefCourse {
  for (const event of eventsOf(new Map([['', { ...identity, at: course.at }]]))) addTo(course, event, runs);
  return course;
}

function judgeRun(
  { troubled, others, ...run }: RunToJudge,
  surroundings: Surroundings,
  beliefOf: (identity: string) => Belief,
): RunJudgement {
  const failed = { ...others, again: { ...others.again } };
  const members = new Map<string, FailedMember>();
  for (const key of troubled) {
    const member = memberOf(beliefOf(key), run);
    members.set(key, member);
    addMember(failed, member);
  }
  const { unexpected, expected, again } = failed;
  const meaning = unexpected + expected === 0 ? null : meaningOf({ ...run, unexpected, again }, surroundings);
  return { ...run, unexpected, meaning, members };
}

/** The state of an identity with this belief before a run. */
export const memberOf = (belief: Belief, { startedAt }: Pick<RunToJudge, 'startedAt'>): FailedMember => ({
  wasHealthy: belief.status === 'healthy',
  keepsFailing: keepsFailing(belief, startedAt, HOUR_MS),
});

/**
 * The meaning of a run, in coarse steps: a smaller change would change no test that failed in the run. So the parts of a
 * run that arrive one after the other let its tests start over only while they show something new.
 */
export const meaningOf = (count: MetRun, surroundings: Surroundings): RunMeaning => ({
  unexpected: rounded(runTroubleOf(count, surroundings, true)),
  expected: rounded(runTroubleOf(count, surroundings, false)),
});

const rounded = (trouble: RunTrouble): RunTrouble => ({
  healthyFails: stepped(trouble.healthyFails),
  anyBreaks: trouble.anyBreaks,
  // Next to what any commit breaks, less is nothing.
  breaks: trouble.breaks < BREAKS_MIN ? 0 : stepped(trouble.breaks),
  isShared: Number(trouble.isShared.toFixed(1)),
  lasting: trouble.lasting < LASTING_MIN ? 0 : stepped(trouble.lasting),
  together: trouble.together === 0 ? 0 : stepped(trouble.together, Math.ceil),
  brokenAfter: trouble.brokenAfter,
});

const BREAKS_MIN = 5e-5;
/** Next to what fails a healthy test anyway, less is nothing. */
const LASTING_MIN = 1e-5;
/** A step is 12 %. */
const STEPS_TO_TEN = 20;
const PROBABILITY_MAX = 0.99;
const stepped = (probability: number, whole = Math.round): number =>
  Math.min(
    PROBABILITY_MAX,
    Number((10 ** (whole(Math.log10(probability) * STEPS_TO_TEN) / STEPS_TO_TEN)).toPrecision(2)),
  );

/** Everything that follows the moments from which the identities are judged, in order. */
function eventsOf(identities: ReadonlyMap<string, IdentityToJudge>): Event[] {
  const events: Event[] = [];
  for (const [identity, { place, at, executions, clues }] of identities) {
    const isNew = (position: Position): boolean => at === null || comparePositions(position, at) > 0;
    const seen = new Set<bigint>();
    for (const execution of executions) {
      if (execution.status === 'skipped' || seen.has(execution.executionId) || !isNew(execution)) continue;
      seen.add(execution.executionId);
      events.push({ identity, place, at: execution, execution });
    }
    for (const clue of clues) if (isNew(clue.at)) events.push({ identity, place, at: clue.at, clue });
  }
  return events.sort((one, other) => comparePositions(one.at, other.at));
}

function addTo(course: BeliefCourse, event: Event, known: KnownRuns): void {
  if ('clue' in event) {
    const { clue } = event;
    if (isOfOtherLegs(clue)) course.seeOtherLegs(clue);
    else course.contradict(clue, troubleIn(runNameOf(event.place, clue.run), course, known));
    return;
  }
  const { execution } = event;
  course.add(
    execution,
    isTrouble(execution) ? troubleIn(runNameOf(event.place, runKeyOf(execution)), course, known) : undefined,
  );
}

function troubleIn(run: string, { belief }: BeliefCourse, known: KnownRuns): RunTrouble {
  const meaning = known.get(run)?.meaning;
  if (!meaning) throw new RangeError(`something failed in run ${run}, but it was not judged`);
  return troubleFor(belief, meaning);
}

/** The meaning of a run for an identity: it is in the count of unexpected failures if it was healthy. */
export const troubleFor = ({ status }: Pick<Belief, 'status'>, { unexpected, expected }: RunMeaning): RunTrouble =>
  status === 'healthy' ? unexpected : expected;

function courseOf(courses: ReadonlyMap<string, BeliefCourse>, identity: string): BeliefCourse {
  const course = courses.get(identity);
  if (!course) throw new RangeError(`${identity} failed in a run that is judged, but is not given`);
  return course;
}

const compareRuns = (one: { startedAt: number }, other: { startedAt: number }): number =>
  one.startedAt - other.startedAt;
