/**
 * How right verdicts on a real history are, whose truth no one wrote down: one is right when the time after it bears it
 * out.
 */
import type { Health } from '../../src/domain/status.ts';
import { DAY_MS } from '../../src/domain/time.ts';
import { addClaim, type Calibration, noCalibration, type Share } from './calibration.ts';
import type { Run } from './history.ts';
import { daysOf, type RealHistory } from './real-history.ts';
import { type NotHealthy, saidOf, type Verdicts } from './real-verdicts.ts';

/** How far ahead a flaky test must show it again. */
const AHEAD_MS = 28 * DAY_MS;
/** A run with so many failures had trouble itself. */
export const SHARED_FAILURES = 10;
/** Same as `HEALTH_RECENT_DAYS`: a test is as healthy as its worst identity that ran this lately. */
const RECENT_MS = 14 * DAY_MS;

export interface RealScores {
  /** How many of the tests called flaky at the end of a day passed and failed on one commit in the next four weeks. */
  flakyRight: Share;
  /** And of those that did, how many were called flaky. */
  flakyKnown: Share;
  /** The same, of those that are flaky and active: undefined for rules that do not tell them from calm ones. */
  activeRight: Share | undefined;
  activeKnown: Share | undefined;
  /**
   * The bound for any rule: how many of those that did had run within the two weeks before, and how many had done so
   * before.
   */
  flakySeen: Share;
  flakyBefore: Share;
  /** How many of the failures after which a test was called broken were followed by a failure in its next run. */
  brokenRight: Share;
  /** How many of the failures with a next run made the test called broken. */
  brokenSaid: Share;
  /** How many of the clean steps from passing to failing on one commit were called broken by the third failure. */
  steps: Share;
  /** How often a flaky identity was called healthy, and of these, how often it contradicted itself in the next weeks. */
  wrongRecoveries: Share;
  /**
   * Of what was said with a probability, how much held: a flaky test, at the end of a day, as `flakyRight`; a broken one,
   * after a failure, as `brokenRight`; a healthy one if it does not pass and fail on one commit in the next four weeks.
   * Undefined for rules that say no probabilities.
   */
  calibration: Calibration | undefined;
}

export function scoreReal(history: RealHistory, { afterRun, atEndOfDay, calm, probabilities }: Verdicts): RealScores {
  const contradictions = contradictionsOf(history);
  const scores: RealScores = {
    flakyRight: { right: 0, of: 0 },
    flakyKnown: { right: 0, of: 0 },
    activeRight: calm && { right: 0, of: 0 },
    activeKnown: calm && { right: 0, of: 0 },
    flakySeen: { right: 0, of: 0 },
    flakyBefore: { right: 0, of: 0 },
    brokenRight: { right: 0, of: 0 },
    brokenSaid: { right: 0, of: 0 },
    steps: { right: 0, of: 0 },
    wrongRecoveries: { right: 0, of: 0 },
    calibration: probabilities && noCalibration(),
  };
  const courses = history.identities.map(
    (): Course => ({ ranAt: 0, recoveries: [], said: 'healthy', commit: '', steps: undefined }),
  );
  const end = (history.runs.at(-1)?.at ?? 0) - AHEAD_MS;
  let index = 0;
  for (const { day, runs } of daysOf(history)) {
    for (const run of runs) {
      const said = afterRun[index] ?? new Map();
      for (let i = 0; i < run.identities.length; i++) {
        const course = courses[run.identities[i] as number] as Course;
        scoreBroken(course, run.troubles.has(run.identities[i] as number), scores);
      }
      for (let i = 0; i < run.identities.length; i++) {
        const identity = run.identities[i] as number;
        follow(courses, run, identity, said, scores);
        const course = courses[identity] as Course;
        course.probability = probabilities?.afterRun[index]?.get(identity);
      }
      index++;
    }
    const now = (day + 1) * DAY_MS;
    if (now > end) continue;
    const said = {
      notHealthy: atEndOfDay.get(day) ?? new Map(),
      calm: calm?.get(day) ?? new Set(),
      probabilities: probabilities?.atEndOfDay.get(day),
    };
    askOfDay(history, said, courses, contradictions, now, scores);
  }
  for (const [identity, { recoveries }] of courses.entries())
    for (const at of recoveries) {
      if (at > end) continue;
      scores.wrongRecoveries.of++;
      const again = contradictions.get(history.identities[identity]?.test ?? '');
      if (again?.some((then) => then > at && then < at + AHEAD_MS)) scores.wrongRecoveries.right++;
    }
  return scores;
}

interface Course {
  ranAt: number;
  /** When it was called healthy again after having been flaky. */
  recoveries: number[];
  /** After the last execution, if that failed: what was said. */
  failedAndSaid?: Health;
  said: Health;
  /** How likely that was right just afterwards, if it was not healthy. */
  probability?: number | undefined;
  /** The commit it ran on, and what it did there: passes, then failures. */
  commit: string;
  steps: { passes: number; failures: number; wasNamed: boolean } | undefined;
}

function scoreBroken(course: Course, isFailed: boolean, scores: RealScores): void {
  if (course.failedAndSaid === undefined) return;
  scores.brokenSaid.of++;
  if (course.failedAndSaid !== 'broken') return;
  scores.brokenSaid.right++;
  scores.brokenRight.of++;
  if (isFailed) scores.brokenRight.right++;
  if (scores.calibration && course.probability !== undefined)
    addClaim(scores.calibration, 'broken', course.probability, isFailed);
}

/**
 * Two passes or more on a commit, then three failures or more, the first on the same commit; none shared with many tests.
 */
function follow(
  courses: readonly Course[],
  run: Run,
  identity: number,
  saidAfter: NotHealthy,
  scores: RealScores,
): void {
  const course = courses[identity] as Course;
  const isFailed = run.troubles.has(identity);
  const said = saidOf(saidAfter, identity);
  if (course.said === 'flaky' && said === 'healthy') course.recoveries.push(run.at);
  if (isFailed) course.failedAndSaid = said;
  else delete course.failedAndSaid;
  course.said = said;
  course.ranAt = run.at;
  if (isFailed && run.troubles.size >= SHARED_FAILURES) return;
  const { steps } = course;
  if (!isFailed) {
    const passes = steps && steps.failures === 0 && course.commit === run.commit ? steps.passes + 1 : 1;
    course.steps = { passes, failures: 0, wasNamed: false };
  } else if (steps && (steps.failures > 0 || (course.commit === run.commit && steps.passes >= 2))) {
    steps.failures++;
    if (said === 'broken' && steps.failures <= 3) steps.wasNamed = true;
    if (steps.failures === 3) {
      scores.steps.of++;
      if (steps.wasNamed) scores.steps.right++;
    }
  } else course.steps = undefined;
  course.commit = run.commit;
}

function askOfDay(
  { identities }: RealHistory,
  said: { notHealthy: NotHealthy; calm: ReadonlySet<number>; probabilities: ArrayLike<number> | undefined },
  courses: readonly Course[],
  contradictions: ReadonlyMap<string, readonly number[]>,
  now: number,
  scores: RealScores,
): void {
  const flaky = new Set<string>();
  const active = new Set<string>();
  const seen = new Set<string>();
  /** By test: the likeliest of its flaky identities; the least likely, if all are healthy. */
  const sure = new Map<string, Claim>();
  for (const [identity, { test }] of identities.entries()) {
    const course = courses[identity] as Course;
    if (course.ranAt <= now - RECENT_MS) continue;
    seen.add(test);
    const health = saidOf(said.notHealthy, identity);
    sure.set(test, worse(sure.get(test), { health, probability: said.probabilities?.[identity] ?? 0 }));
    if (health !== 'flaky') continue;
    flaky.add(test);
    if (!said.calm.has(identity)) active.add(test);
  }
  const willBe = (test: string): boolean =>
    contradictions.get(test)?.some((at) => at >= now && at < now + AHEAD_MS) ?? false;
  const count = (share: Share | undefined, isRight: boolean): void => {
    if (!share) return;
    share.of++;
    if (isRight) share.right++;
  };
  if (scores.calibration && said.probabilities)
    // Whether a test is broken shows in its next run.
    for (const [test, { health, probability }] of sure)
      if (health !== 'broken') addClaim(scores.calibration, health, probability, willBe(test) === (health === 'flaky'));
  for (const test of flaky) count(scores.flakyRight, willBe(test));
  for (const test of active) count(scores.activeRight, willBe(test));
  for (const [test, moments] of contradictions) {
    if (!willBe(test)) continue;
    count(scores.flakyKnown, flaky.has(test));
    count(scores.activeKnown, active.has(test));
    count(scores.flakySeen, seen.has(test));
    count(
      scores.flakyBefore,
      moments.some((at) => at < now),
    );
  }
}

interface Claim {
  health: Health;
  probability: number;
}

/** What is said of a test by its identities: flaky if one is, else broken if one is. */
function worse(one: Claim | undefined, other: Claim): Claim {
  if (!one) return other;
  if (one.health === other.health)
    return one.probability > other.probability === (one.health !== 'healthy') ? one : other;
  const order: readonly Health[] = ['healthy', 'broken', 'flaky'];
  return order.indexOf(one.health) > order.indexOf(other.health) ? one : other;
}

/** By test: when one commit and suite had both passed and failed it. */
function contradictionsOf({ runs, identities }: RealHistory): Map<string, number[]> {
  const seen = new Map<string, { failed: boolean; passed: boolean }>();
  const found = new Map<string, number[]>();
  for (const run of runs) {
    // A test that fails with many others shows nothing about itself.
    const isShared = run.troubles.size >= SHARED_FAILURES;
    for (let i = 0; i < run.identities.length; i++) {
      const identity = run.identities[i] as number;
      const key = `${run.commit}/${identity}`;
      const known = seen.get(key) ?? { failed: false, passed: false };
      seen.set(key, known);
      const isFailed = run.troubles.has(identity);
      if (isFailed && isShared) continue;
      if (isFailed ? known.passed : known.failed) {
        const { test } = identities[identity] as { test: string };
        const at = found.get(test) ?? [];
        found.set(test, at);
        at.push(run.at);
      }
      if (isFailed) known.failed = true;
      else known.passed = true;
    }
  }
  return found;
}
