/**
 * The judgement of a repository (src/domain/judge-runs.ts): one result, whatever the order of arrival, and wherever it
 * begins again.
 */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { type Belief, newBelief } from '../../src/domain/belief.ts';
import { type BeliefChange, undecided } from '../../src/domain/belief-course.ts';
import { type Clue, isContradiction } from '../../src/domain/clues.ts';
import { contradictionsOf, pullRequestRunKeyOf } from '../../src/domain/contradictions.ts';
import {
  comparePositions,
  isTrouble,
  type JudgedExecution,
  type Position,
  runKeyOf,
} from '../../src/domain/execution.ts';
import {
  type JudgedRun,
  judgeRuns,
  meaningOf,
  noneFailed,
  type RunToJudge,
  runNameOf,
} from '../../src/domain/judge-runs.ts';
import { otherLegsClues } from '../../src/domain/other-legs.ts';
import { usualHours } from '../../src/domain/run-surroundings.ts';
import { NOTHING_RAN_BEFORE } from '../../src/domain/run-trouble.ts';
import { DAY_MS, HOUR_MS } from '../../src/domain/time.ts';

/** A month ends within a history. */
const BEGUN = Date.UTC(2026, 0, 29);

interface Reported extends JudgedExecution {
  place: string;
  /** The identity. */
  testId: string;
  isOnDefaultBranch: boolean;
}

/** Runs that overlap, some of pull requests, with shards that finish at different times. */
const histories: fc.Arbitrary<Reported[]> = fc
  .array(
    fc.record({
      hours: fc.integer({ min: 0, max: 30 }),
      commit: fc.nat({ max: 30 }),
      isPullRequest: fc.oneof({ weight: 3, arbitrary: fc.constant(false) }, fc.constant(true)),
      failing: fc.constantFrom(0, 0, 1, 1, 3, 9),
      executions: fc.array(
        fc.record({
          test: fc.nat({ max: 5 }),
          minutes: fc.nat({ max: 90 }),
          luck: fc.nat({ max: 9 }),
          isRetried: fc.oneof({ weight: 9, arbitrary: fc.constant(false) }, fc.constant(true)),
        }),
        { minLength: 1, maxLength: 8 },
      ),
    }),
    { minLength: 1, maxLength: 25 },
  )
  .map((runs) => {
    let at = BEGUN;
    let id = 0n;
    return runs.flatMap(({ hours, commit, isPullRequest, failing, executions }, run) => {
      at += (hours * HOUR_MS) / 4;
      return executions.map(({ test: number, minutes, luck, isRetried }): Reported => {
        id++;
        const status = luck < failing ? 'failed' : luck === 9 ? 'skipped' : 'passed';
        return {
          place: `job ${run % 2}`,
          testId: `t${number} in job ${run % 2}`,
          isOnDefaultBranch: !isPullRequest,
          executionId: id,
          status,
          finishedAt: at + minutes * 60_000,
          runId: `r${run >> 2}`,
          runAttempt: 1 + ((run >> 1) % 2),
          commit: isPullRequest ? `p${commit >> 3}` : `c${commit >> 1}`,
          isFlakyWithinRun: isRetried && status === 'passed',
          isRetried,
        };
      });
    });
  });

interface Test {
  belief: Belief;
  at: Position | null;
  changes: BeliefChange[];
  flaky: Set<string>;
}

/** Stores what an evaluation stores: judged runs; for each test where it can start over; and what it has found. */
class Evaluation {
  readonly reported = new Map<bigint, Reported>();
  readonly runs = new Map<string, JudgedRun>();
  readonly tests = new Map<string, Test>();
  readonly #starts = new Map<string, { belief: Belief; at: Position; flakyForGood: ReadonlySet<string> }[]>();

  /** Judges like an evaluation: from the first run on in which something is new. */
  take(arrived: readonly Reported[]): void {
    const clues = this.#clues();
    for (const one of arrived) this.reported.set(one.executionId, one);
    const runs = this.#runs();
    const fresh = new Set(arrived.filter(({ status }) => status !== 'skipped').map(keyOf));
    const moved = differences(clues, this.#clues());
    const named = new Set(moved.map(({ run }) => run));
    const since = Math.min(
      ...runs.filter(({ key }) => fresh.has(key) || named.has(key)).map(({ startedAt }) => startedAt),
      ...moved.map(({ at }) => at.finishedAt),
    );
    if (since === Number.POSITIVE_INFINITY) return;
    const judged = runs.filter(({ startedAt }) => startedAt >= since);
    const before = [...this.runs.values()].filter(({ startedAt, key }) => {
      const now = runs.find((run) => run.key === key);
      return startedAt < since && now !== undefined && now.startedAt < since;
    });
    const testIds = new Set([...arrived, ...moved].map(({ testId }) => testId));
    for (const { troubled } of judged) for (const testId of troubled) testIds.add(testId);
    const inHand = new Map(
      [...testIds].map((testId) => {
        const starts = (this.#starts.get(testId) ?? []).filter(({ at }) => at.finishedAt < since);
        this.#starts.set(testId, starts);
        const start = starts.at(-1) ?? { belief: newBelief(), at: null };
        return [testId, { ...start, place: testId.slice(testId.indexOf('job')), ...this.#historyOf(testId) }] as const;
      }),
    );
    const recent = before.filter((run) => run.isOnDefaultBranch);
    const result = judgeRuns({
      recent,
      usual: usualHours(recent),
      known: new Map(before.map((run) => [run.key, run])),
      runs: judged,
      identities: inHand,
    });
    // A run that began earlier than was known is judged again; one that no contradiction names any more is forgotten.
    const kept = new Set([...before, ...result.runs].map(({ key }) => key));
    for (const key of this.runs.keys()) if (!kept.has(key)) this.runs.delete(key);
    for (const { members: _, ...run } of result.runs) this.runs.set(run.key, run);
    for (const [testId, course] of result.courses) {
      const start = inHand.get(testId) ?? { belief: newBelief(), at: null };
      const known = this.tests.get(testId);
      const isBefore = (at: Position): boolean => start.at !== null && comparePositions(at, start.at) <= 0;
      const open = idsOf(start.belief);
      const stands = [...(known?.flaky ?? [])].filter((id) => {
        const execution = this.reported.get(BigInt(id));
        return execution && isBefore(execution) && !open.has(id);
      });
      this.tests.set(testId, {
        belief: course.belief,
        at: course.at,
        changes: [...(known?.changes ?? []).filter(({ at }) => isBefore(at)), ...course.changes],
        flaky: new Set([...stands, ...course.flaky].filter((id) => this.reported.get(BigInt(id))?.isOnDefaultBranch)),
      });
      const { belief, at, flakyForGood } = course;
      if (at) this.#starts.get(testId)?.push({ belief, at, flakyForGood: flakyForGood.intersection(idsOf(belief)) });
    }
  }

  #historyOf(testId: string) {
    const all = [...this.reported.values()].filter((one) => one.testId === testId);
    return {
      executions: all.filter(({ isOnDefaultBranch }) => isOnDefaultBranch),
      clues: [
        ...contradictionsOf(all.filter(({ isOnDefaultBranch }) => !isOnDefaultBranch)),
        ...(this.#otherLegs(testId.slice(0, testId.indexOf(' '))).get(testId) ?? []),
      ],
    };
  }

  /** The jobs are the legs of a test. */
  #otherLegs(name: string) {
    const legs = [...this.reported.values()].filter(
      ({ testId, isOnDefaultBranch }) => isOnDefaultBranch && testId.startsWith(`${name} `),
    );
    return otherLegsClues(Map.groupBy(legs, ({ testId }) => testId));
  }

  #clues() {
    return [...new Set([...this.reported.values()].map(({ testId }) => testId))].flatMap((testId) =>
      this.#historyOf(testId).clues.map((one) => ({
        ...one,
        testId,
        run: isContradiction(one) ? runNameOf(testId.slice(testId.indexOf('job')), one.run) : undefined,
      })),
    );
  }

  #runs(): RunToJudge[] {
    const named = new Set(this.#clues().map(({ run }) => run));
    const conclusive = [...this.reported.values()].filter(({ status }) => status !== 'skipped');
    return [...Map.groupBy(conclusive, keyOf)].flatMap(([key, executions]) => {
      const isOnDefaultBranch = executions.some((one) => one.isOnDefaultBranch);
      if (!isOnDefaultBranch && !named.has(key)) return [];
      return [
        {
          key,
          place: executions[0]?.place ?? '',
          isOnDefaultBranch,
          startedAt: Math.min(...executions.map(({ finishedAt }) => finishedAt)),
          // Among many tests that pass, so that one that fails alone is soon known.
          executions: executions.length + 150,
          troubled: new Set(executions.filter(isTrouble).map(({ testId }) => testId)),
          others: noneFailed(),
        },
      ];
    });
  }

  /** Everything that is stored, in one order. */
  get state() {
    const byKey = <V>(map: ReadonlyMap<string, V>) => [...map].sort(([one], [other]) => (one < other ? -1 : 1));
    return {
      runs: byKey(this.runs),
      tests: byKey(this.tests)
        .filter(([, { at }]) => at !== null)
        .map(([testId, one]) => [testId, { ...one, at: positionOf(one.at), changes: one.changes.map(described) }]),
    };
  }
}

/** The executions about which a course that begins with a belief decides again. */
const idsOf = (belief: Belief) => new Set(undecided(belief).map(({ executionId }) => executionId));

/** Clues that are in only one of the two lists. */
function differences<C extends Pick<Clue, 'at' | 'failure'> & { testId: string; run: string | undefined }>(
  some: readonly C[],
  others: readonly C[],
): C[] {
  const keyed = (all: readonly C[]) =>
    new Map(all.map((one) => [JSON.stringify([{ ...one, at: positionOf(one.at) }]), one]));
  const [before, after] = [keyed(some), keyed(others)];
  return [...before, ...after].flatMap(([key, one]) => (before.has(key) && after.has(key) ? [] : [one]));
}

const keyOf = (one: Reported): string =>
  runNameOf(one.place, one.isOnDefaultBranch ? runKeyOf(one) : pullRequestRunKeyOf(one));
const positionOf = (at: Position | null) => at && [at.finishedAt, at.runId, at.runAttempt, String(at.executionId)];
const described = ({ at, before, after, beginning }: BeliefChange) => [positionOf(at), before, after, beginning];

function judged(...batches: readonly (readonly Reported[])[]): Evaluation {
  const evaluation = new Evaluation();
  for (const batch of batches) evaluation.take(batch);
  return evaluation;
}

describe('a repository', () => {
  test('is judged alike in whatever order, and in however many parts its executions arrive', () => {
    fc.assert(
      fc.property(
        histories,
        fc.array(fc.nat(), { minLength: 1 }),
        fc.integer({ min: 1, max: 9 }),
        (all, order, size) => {
          const arriving = all
            .map((one, i) => ({ one, key: (order[i % order.length] ?? 0) + (i % 3) }))
            .sort((a, b) => a.key - b.key)
            .map(({ one }) => one);
          const batches = Array.from({ length: Math.ceil(arriving.length / size) }, (_, i) =>
            arriving.slice(i * size, (i + 1) * size),
          );
          expect(judged(...batches).state).toEqual(judged(all).state);
        },
      ),
      { numRuns: 100 },
    );
  });

  test('is judged alike in whatever parts it arrives while the same tests keep failing', () => {
    /** Commits three hours apart on which most of six tests fail, and the others pass. */
    const breaks = fc.array(fc.array(fc.nat({ max: 12 }), { minLength: 6, maxLength: 6 }), {
      minLength: 3,
      maxLength: 6,
    });
    fc.assert(
      fc.property(breaks, fc.array(fc.nat(), { minLength: 1 }), fc.integer({ min: 1, max: 9 }), (runs, order, size) => {
        const all = runs.flatMap((lucks, run) =>
          lucks.map(
            (luck, i): Reported => ({
              place: 'job 0',
              testId: `t${i} in job 0`,
              isOnDefaultBranch: true,
              executionId: BigInt(run * 10 + i),
              status: luck === 0 ? 'passed' : 'failed',
              finishedAt: BEGUN + run * 3 * HOUR_MS + i * 60_000,
              runId: `r${run}`,
              runAttempt: 1,
              commit: `c${run}`,
              isFlakyWithinRun: false,
              isRetried: false,
            }),
          ),
        );
        const arriving = all
          .map((one, i) => ({ one, key: (order[i % order.length] ?? 0) + (i % 3) }))
          .sort((x, y) => x.key - y.key)
          .map(({ one }) => one);
        const batches = Array.from({ length: Math.ceil(arriving.length / size) }, (_, i) =>
          arriving.slice(i * size, (i + 1) * size),
        );
        expect(judged(...batches).state).toEqual(judged(all).state);
      }),
      { numRuns: 100, examples: [[Array.from({ length: 4 }, () => [1, 1, 1, 1, 1, 1]), [3, 1, 2], 4]] },
    );
  });

  test('is judged alike when everything arrives twice', () => {
    fc.assert(
      fc.property(histories, (all) => expect(judged(all, all).state).toEqual(judged(all).state)),
      { numRuns: 50 },
    );
  });

  test('names a failure no later than the change with which each episode begins, and none on recovery', () => {
    fc.assert(
      fc.property(histories, (all) => {
        const troubles = new Set(all.flatMap((one) => (isTrouble(one) ? String(one.executionId) : [])));
        for (const { changes } of judged(all).tests.values())
          for (const { at, after, beginning } of changes) {
            if (after === 'healthy') expect(beginning).toBeNull();
            else if (troubles.has(String(at.executionId))) expect(beginning).not.toBeNull();
            if (!beginning) continue;
            expect(beginning.finishedAt).toBeLessThanOrEqual(at.finishedAt);
            expect(troubles).toContain(beginning.executionId);
          }
      }),
      { numRuns: 50 },
    );
  });

  test('does not know what happens later', () => {
    fc.assert(
      fc.property(histories, fc.nat({ max: 60 }), (all, hours) => {
        const until = BEGUN + hours * HOUR_MS;
        const early = judged(all.filter(({ finishedAt }) => finishedAt <= until));
        const whole = judged(all);
        for (const [testId, { changes }] of early.tests) {
          const known = whole.tests.get(testId)?.changes ?? [];
          // A run that continues may turn out to be in trouble; what ended a day before is settled.
          const isSettled = ({ at }: BeliefChange): boolean => at.finishedAt < until - DAY_MS;
          expect(changes.filter(isSettled).map(described)).toEqual(known.filter(isSettled).map(described));
        }
      }),
      { numRuns: 100 },
    );
  });

  test('takes back that failures are flaky when the rest of a run arrives, and it was in trouble', () => {
    const one = (run: number, testId: string, status: Reported['status']): Reported => ({
      place: 'job 0',
      testId: `${testId} in job 0`,
      isOnDefaultBranch: true,
      executionId: BigInt(run * 1_000 + Number(testId.slice(1)) * 2 + (status === 'failed' ? 1 : 0)),
      status,
      finishedAt: BEGUN + run * 3 * HOUR_MS,
      runId: `r${run}`,
      runAttempt: 1,
      commit: `c${run >> 1}`,
      isFlakyWithinRun: false,
      isRetried: false,
    });
    const evaluation = new Evaluation();
    const flaky = () => [...(evaluation.tests.get('t0 in job 0')?.flaky ?? [])];
    const failing = [40, 80];
    for (let run = 0; run < 90; run++) evaluation.take([one(run, 't0', failing.includes(run) ? 'failed' : 'passed')]);
    expect(flaky()).toEqual(failing.map((run) => String(run * 1_000 + 1)));
    evaluation.take(Array.from({ length: 60 }, (_, i) => one(80, `t${i + 1}`, 'failed')));
    expect(flaky()).toEqual([]);
  });
});

test('a run that arrives in fifty parts means the same from the first few on', () => {
  fc.assert(
    fc.property(fc.double({ min: 0.05, max: 1, noNaN: true }), (share) => {
      const meanings = Array.from({ length: 45 }, (_, i) => {
        const executions = (i + 6) * 1_000;
        const unexpected = Math.round(executions * share);
        return JSON.stringify(
          meaningOf({ place: '', executions, unexpected, isOnDefaultBranch: true }, NOTHING_RAN_BEFORE),
        );
      });
      // A share on the border of two steps is rounded up and down in turns.
      expect(new Set(meanings).size).toBeLessThanOrEqual(9);
    }),
    { examples: [[0.0530625]] },
  );
});
