/** Compares what rules said, asked every few hours, with what was true. */
import type { Health } from '../../src/domain/status.ts';
import { DAY_MS, HOUR_MS } from '../../src/domain/time.ts';
import { addCalibrations, addClaim, type Calibration, noCalibration, type Share } from './calibration.ts';
import type { Rules, Run } from './history.ts';
import { type Phase, phaseAt, type World } from './world.ts';

/** How often verdicts are asked for. */
const ASKED_EVERY_MS = 4 * HOUR_MS;
const RECALL_RATE_MIN = 0.05;
const RECALL_DAYS_MIN = 14;
const MONTH_MS = 30 * DAY_MS;
/** A test that was called flaky or broken is marked as recovered no earlier. */
const RECOVERY_MS_MIN = 3 * DAY_MS;

/** Scores of one set of rules; those of several worlds add up. */
export interface Scores {
  executions: number;
  seconds: number;
  /** How many of the tests ever called flaky were. */
  flakyPrecision: Share;
  /** How many of the tests that failed at 5 % or more for two weeks or more were called flaky in time. */
  flakyRecall: Share;
  /** In how many of the hours in which a test was called broken it was; and the other way round. */
  brokenPrecision: Share;
  brokenRecall: Share;
  /** Automatic quarantines as flaky: of tests that were fine, and of tests that were broken and never flaky. */
  falseQuarantines: Share;
  brokenQuarantines: Share;
  /** How often a flaky test was called healthy again; `of` is in months of known flaky tests. */
  wrongRecoveries: Share;
  /**
   * How many of the marks that a test has recovered were wrong: it was called broken and is, or was called flaky and is
   * flaky or broken.
   */
  wrongMarks: Share;
  /** Of what was said with a probability, how much held. */
  calibration: Calibration;
  /** For each test that fails about once in a hundred runs: days until it is called flaky, or infinity. */
  daysToKnow: number[];
}

export const noScores = (): Scores => ({
  executions: 0,
  seconds: 0,
  flakyPrecision: { right: 0, of: 0 },
  flakyRecall: { right: 0, of: 0 },
  brokenPrecision: { right: 0, of: 0 },
  brokenRecall: { right: 0, of: 0 },
  falseQuarantines: { right: 0, of: 0 },
  brokenQuarantines: { right: 0, of: 0 },
  wrongRecoveries: { right: 0, of: 0 },
  wrongMarks: { right: 0, of: 0 },
  calibration: noCalibration(),
  daysToKnow: [],
});

/** The sum of the scores of several worlds. */
export function addScores(one: Scores, other: Scores): Scores {
  const sum = (key: keyof Scores): Share => {
    const [a, b] = [one[key] as Share, other[key] as Share];
    return { right: a.right + b.right, of: a.of + b.of };
  };
  return {
    executions: one.executions + other.executions,
    seconds: one.seconds + other.seconds,
    flakyPrecision: sum('flakyPrecision'),
    flakyRecall: sum('flakyRecall'),
    brokenPrecision: sum('brokenPrecision'),
    brokenRecall: sum('brokenRecall'),
    falseQuarantines: sum('falseQuarantines'),
    brokenQuarantines: sum('brokenQuarantines'),
    wrongRecoveries: sum('wrongRecoveries'),
    wrongMarks: sum('wrongMarks'),
    calibration: addCalibrations(one.calibration, other.calibration),
    daysToKnow: [...one.daysToKnow, ...other.daysToKnow],
  };
}

/** Plays a world to rules, and scores them. */
export function play(world: World, rules: Rules): Scores {
  const scores = noScores();
  const judged = world.phases.map((phases) => new JudgedTest(phases));
  const begun = process.cpuUsage();
  let asked = world.start;
  const ask = (now: number): void => {
    rules.settle(now);
    for (const [identity, test] of judged.entries())
      test.hear(scores, now, {
        said: rules.health(identity),
        probability: rules.probability?.(identity),
        isSurelyHealthy: rules.isSurelyHealthy?.(identity) ?? rules.health(identity) === 'healthy',
        isQuarantined: rules.isQuarantined(identity),
      });
  };
  const askUntil = (at: number): void => {
    for (; asked + ASKED_EVERY_MS <= at; asked += ASKED_EVERY_MS) ask(asked + ASKED_EVERY_MS);
  };
  for (const run of world.runs()) {
    askUntil(run.at);
    scores.executions += run.identities.length;
    if (run.isDefaultBranch)
      for (let i = 0; i < run.identities.length; i++) judged[run.identities[i] as number]?.see(run);
    rules.takeIn(run);
  }
  askUntil(world.end);
  for (const test of judged) test.conclude(scores, world.end);
  const { user, system } = process.cpuUsage(begun);
  scores.seconds = (user + system) / 1e6;
  return scores;
}

interface Answer {
  said: Health;
  probability: number | undefined;
  isSurelyHealthy: boolean;
  isQuarantined: boolean;
}

class JudgedTest {
  #before: Health = 'healthy';
  #wasQuarantined = false;
  #ranAt = 0;
  /** When it was first called flaky while it was. */
  #knownAt = Number.POSITIVE_INFINITY;
  #wasCalledFlaky = false;
  /** Since when it is called flaky or broken, and not marked as recovered; and whether it was called flaky since. */
  #unhealthySince = Number.POSITIVE_INFINITY;
  #isToRecoverFromFlaky = false;

  constructor(private readonly phases: readonly Phase[]) {}

  see({ at }: Run): void {
    this.#ranAt = at;
  }

  hear(scores: Scores, now: number, { said, probability, isSurelyHealthy, isQuarantined }: Answer): void {
    const phase = phaseAt(this.phases, now);
    const truth = phase?.state ?? 'healthy';
    // It cannot be known before it has run.
    const isKnowable = phase !== undefined && this.#ranAt > phase.from;
    if (said === 'broken') {
      scores.brokenPrecision.of++;
      if (truth === 'broken') scores.brokenPrecision.right++;
    }
    if (truth === 'broken' && isKnowable) {
      scores.brokenRecall.of++;
      if (said === 'broken') scores.brokenRecall.right++;
    }
    if (said === 'flaky') {
      this.#wasCalledFlaky = true;
      if (this.#wasFlakyLately(now)) this.#knownAt = Math.min(this.#knownAt, now);
    }
    if (truth === 'flaky' && now >= this.#knownAt) {
      scores.wrongRecoveries.of += ASKED_EVERY_MS / MONTH_MS;
      if (this.#before === 'flaky' && said === 'healthy') scores.wrongRecoveries.right++;
    }
    if (probability !== undefined && this.#ranAt > 0)
      // What was true when it last ran: that it changed since, no one can know.
      addClaim(scores.calibration, said, probability, said === (phaseAt(this.phases, this.#ranAt)?.state ?? 'healthy'));
    if (said === 'flaky') this.#isToRecoverFromFlaky = true;
    if (said !== 'healthy') this.#unhealthySince = Math.min(this.#unhealthySince, now);
    else if (isSurelyHealthy && now >= this.#unhealthySince + RECOVERY_MS_MIN) {
      this.#unhealthySince = Number.POSITIVE_INFINITY;
      scores.wrongMarks.of++;
      if (truth === 'broken' || (truth === 'flaky' && this.#isToRecoverFromFlaky)) scores.wrongMarks.right++;
      this.#isToRecoverFromFlaky = false;
    }
    if (isQuarantined && !this.#wasQuarantined) this.#scoreQuarantine(scores, now);
    this.#before = said;
    this.#wasQuarantined = isQuarantined;
  }

  conclude(scores: Scores, end: number): void {
    const flaky = this.phases.find(({ state }) => state === 'flaky');
    if (this.#wasCalledFlaky) {
      scores.flakyPrecision.of++;
      if (flaky) scores.flakyPrecision.right++;
    }
    if (!flaky) return;
    const until = Math.min(flaky.to, end);
    if (flaky.rate >= RECALL_RATE_MIN && until - flaky.from >= RECALL_DAYS_MIN * DAY_MS) {
      scores.flakyRecall.of++;
      if (this.#knownAt <= until) scores.flakyRecall.right++;
    }
    const isOneInAHundred = flaky.rate >= 0.007 && flaky.rate <= 0.015;
    if (isOneInAHundred && until - flaky.from >= 2 * RECALL_DAYS_MIN * DAY_MS)
      scores.daysToKnow.push(Math.max(0, this.#knownAt - flaky.from) / DAY_MS);
  }

  #scoreQuarantine(scores: Scores, now: number): void {
    const isFlaky = this.#wasFlakyLately(now);
    // A break within the last two days is being noticed now.
    const wasBroken = this.phases.some(
      ({ state, from, to }) => state === 'broken' && from <= now && to > now - 2 * DAY_MS,
    );
    scores.falseQuarantines.of++;
    scores.brokenQuarantines.of++;
    if (!isFlaky && wasBroken) scores.brokenQuarantines.right++;
    else if (!isFlaky) scores.falseQuarantines.right++;
  }

  #wasFlakyLately(now: number): boolean {
    return this.phases.some(({ state, from, to }) => state === 'flaky' && from <= now && to > now - MONTH_MS / 2);
  }
}
