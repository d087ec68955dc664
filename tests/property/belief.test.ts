/** The belief about a test (src/domain/belief.ts): properties of the fold, and what single histories mean. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { type Belief, isSurelyHealthy, newBelief, probabilitiesOf, verdictOf } from '../../src/domain/belief.ts';
import { BeliefCourse, undecided } from '../../src/domain/belief-course.ts';
import { foldBelief, foldContradiction } from '../../src/domain/belief-fold.ts';
import { comparePositions, isTrouble, type JudgedExecution } from '../../src/domain/execution.ts';
import {
  type AutoQuarantineMode,
  isRecovered,
  type QuarantineSearch,
  quarantineCause,
  quarantineSearch,
} from '../../src/domain/quarantine-rules.ts';
import { NOTHING_RAN_BEFORE, RARE_TROUBLE, type RunTrouble, runTroubleOf } from '../../src/domain/run-trouble.ts';
import { DAY_MS, HOUR_MS } from '../../src/domain/time.ts';
import { readBelief, writeBelief } from '../../src/postgres/belief-text.ts';

const BEGUN = Date.UTC(2026, 0, 5);

interface Step {
  status: JudgedExecution['status'];
  isRetried: boolean;
  isNewCommit: boolean;
  hours: number;
  trouble: number;
}

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.record({
    status: fc.oneof(
      { weight: 6, arbitrary: fc.constant('passed' as const) },
      fc.constantFrom('failed' as const, 'skipped' as const),
    ),
    isRetried: fc.oneof({ weight: 8, arbitrary: fc.constant(false) }, fc.constant(true)),
    isNewCommit: fc.boolean(),
    hours: fc.nat({ max: 30 }),
    trouble: fc.constantFrom(0, 0, 3, 40),
  }),
  { maxLength: 60 },
);

function historyOf(all: readonly Step[]): { executions: JudgedExecution[]; troubles: Map<bigint, RunTrouble> } {
  let commit = 0;
  let at = BEGUN;
  const troubles = new Map<bigint, RunTrouble>();
  const executions = all.map((step, i): JudgedExecution => {
    if (step.isNewCommit) commit++;
    at += step.hours * HOUR_MS;
    const executionId = BigInt(i + 1);
    troubles.set(executionId, troubleOf(step.trouble));
    const { status, isRetried } = step;
    return {
      executionId,
      status,
      finishedAt: at,
      runId: `r${i}`,
      runAttempt: 1,
      commit: `c${commit}`,
      isFlakyWithinRun: isRetried && status === 'passed',
      isRetried,
    };
  });
  return { executions, troubles };
}

/** The belief after executions in any order. */
function believe(
  executions: readonly JudgedExecution[],
  troubles: ReadonlyMap<bigint, RunTrouble>,
  belief = newBelief(),
): Belief {
  const course = new BeliefCourse({ belief, at: null });
  const distinct = new Map(executions.map((execution) => [execution.executionId, execution]));
  for (const execution of [...distinct.values()].sort(comparePositions))
    course.add(execution, troubles.get(execution.executionId));
  return course.belief;
}

const troubleOf = (others: number, executions = 150): RunTrouble =>
  runTroubleOf({ place: '', executions, unexpected: others + 1, isOnDefaultBranch: true }, NOTHING_RAN_BEFORE, true);

/** `.` passed, `F` failed, `|` a new commit; one execution every three hours. */
function after(history: string, others = 0, executions = 150) {
  const all: Step[] = [];
  let isNewCommit = false;
  for (const char of history) {
    if (char === '|') isNewCommit = true;
    else {
      all.push({
        status: char === 'F' ? 'failed' : 'passed',
        isRetried: false,
        isNewCommit,
        hours: 3,
        trouble: others,
      });
      isNewCommit = false;
    }
  }
  const made = historyOf(all);
  for (const id of made.troubles.keys()) made.troubles.set(id, troubleOf(others, executions));
  return believe(made.executions, made.troubles);
}
const PASSES = '.|'.repeat(60);
const sorted = (ids: ReadonlySet<string>): string[] => [...ids].sort();

describe('a repository that has hardly run', () => {
  test('is read plainly: what fails is broken, and flaky once it passes on the same commit', () => {
    expect(after('F', 0, 2).status).toBe('broken');
    expect(after('F.', 0, 2).status).toBe('flaky');
  });

  test('is doubted as soon as it has run a little: with so few tests, a bad run looks like a bad test', () => {
    expect(after('.|F', 0, 10).status).toBe('healthy');
    expect(after('.|F.', 0, 10).status).toBe('healthy');
  });
});

describe('a test that has never passed', () => {
  test('is surely broken by its third failure on another commit, however many tests ran beside it', () => {
    for (const executions of [1, 2, 5, 10, 50, 300, 5_000]) {
      const { status, probability } = verdictOf(after('F|F|F', 0, executions));
      expect([executions, status, probability >= 0.9]).toEqual([executions, 'broken', true]);
    }
  });

  test('is no longer broken once it passes, and flaky if it continues to fail now and then', () => {
    for (const executions of [10, 50, 300]) {
      const said = (history: string) => verdictOf(after(history, 0, executions)).status;
      expect([executions, said('F|F|.') === 'broken', said('F|F|.|F|.|F|.|.')]).toEqual([executions, false, 'flaky']);
    }
  });
});

describe('the fold', () => {
  test('does not depend on the order of arrival, on duplicates or on skipped executions', () => {
    fc.assert(
      fc.property(steps, fc.array(fc.nat()), (all, order) => {
        const { executions, troubles } = historyOf(all);
        const shuffled = [...executions, ...executions.slice(0, 5)]
          .map((execution, i) => ({ execution, key: order[i % Math.max(1, order.length)] ?? 0 }))
          .sort((a, b) => a.key - b.key)
          .map(({ execution }) => execution);
        expect(believe(shuffled, troubles)).toEqual(believe(executions, troubles));
        const ran = executions.filter(({ status }) => status !== 'skipped');
        expect(believe(ran, troubles)).toEqual(believe(executions, troubles));
      }),
    );
  });

  test('can stop anywhere and continue from what was written down', () => {
    fc.assert(
      fc.property(steps, fc.nat({ max: 60 }), (all, at) => {
        const { executions, troubles } = historyOf(all);
        const middle: ReturnType<typeof newBelief> = JSON.parse(
          JSON.stringify(believe(executions.slice(0, at), troubles)),
        );
        expect(believe(executions.slice(at), troubles, middle)).toEqual(believe(executions, troubles));
      }),
    );
  });

  test('keeps probabilities that add up to one, and a state of bounded size', () => {
    fc.assert(
      fc.property(steps, (all) => {
        const { executions, troubles } = historyOf(all);
        const belief = believe(executions, troubles);
        const { healthy, flaky, broken } = probabilitiesOf(belief);
        expect(healthy + flaky + broken).toBeCloseTo(1, 9);
        expect([healthy, flaky, broken].every((one) => one >= 0)).toBe(true);
        expect(JSON.stringify(belief).length).toBeLessThan(3_000);
      }),
    );
  });

  test('needs no more than their number of passes that follow each other', () => {
    fc.assert(
      fc.property(fc.nat({ max: 400 }), (passes) => {
        const belief = after('.|'.repeat(passes));
        const counted = newBelief();
        // The first passes settle whether it was broken from the beginning.
        if (belief.weights.at(-1) === 0) expect(belief.passes).toBeLessThanOrEqual(passes);
        expect(verdictOf(belief).status).toBe('healthy');
        expect(probabilitiesOf(belief).flaky).toBeLessThanOrEqual(probabilitiesOf(counted).flaky);
      }),
    );
  });

  test('decides which executions are flaky as if it had never stopped, wherever it stops', () => {
    fc.assert(
      fc.property(steps, fc.nat({ max: 60 }), (all, at) => {
        const { executions, troubles } = historyOf(all);
        const follow = (
          some: readonly JudgedExecution[],
          belief = after(PASSES),
          flakyForGood: ReadonlySet<string> = new Set(),
        ) => {
          const course = new BeliefCourse({ belief, at: null, flakyForGood });
          for (const execution of some) course.add(execution, troubles.get(execution.executionId));
          return course;
        };
        const first = follow(executions.slice(0, at));
        const open = new Set(undecided(first.belief).map(({ executionId }) => executionId));
        const second = follow(executions.slice(at), first.belief, open.intersection(first.flakyForGood));
        const whole = sorted(follow(executions).flaky);
        // Where it continues, what was undecided is decided again.
        expect(sorted(first.flaky.difference(open).union(second.flaky))).toEqual(whole);
      }),
    );
  });

  test('counts no failure as flaky with which a break began', () => {
    fc.assert(
      fc.property(steps, (all) => {
        const { executions, troubles } = historyOf(all);
        const course = new BeliefCourse({ belief: after(PASSES), at: null });
        for (const execution of executions) {
          course.add(execution, troubles.get(execution.executionId));
          const { belief, causes, flaky } = course;
          if (execution.status !== 'failed' || probabilitiesOf(belief).broken < 0.6) continue;
          for (const { executionId } of belief.streak) {
            expect(causes.get(executionId)).toBeOneOf(['commit', 'outside']);
            expect(flaky.has(executionId)).toBe(false);
          }
        }
      }),
    );
  });

  test('is read as it was written, and takes a line for a test that has only passed', () => {
    fc.assert(
      fc.property(steps, (all) => {
        const { executions, troubles } = historyOf(all);
        const at = executions.filter(({ status }) => status !== 'skipped').at(-1);
        const belief = believe(executions, troubles);
        const read = readBelief(writeBelief({ at: at ?? null, belief }));
        expect(read.belief).toEqual(belief);
        expect(read.at?.executionId).toBe(at?.executionId);
        const isClean = executions.every(
          (one) => one.status === 'skipped' || (one.status === 'passed' && !one.isRetried),
        );
        if (isClean) expect(writeBelief({ at: at ?? null, belief }).length).toBeLessThan(80);
      }),
    );
  });

  test('a contradiction in a pull request is never evidence of broken', () => {
    fc.assert(
      fc.property(steps, fc.nat({ max: 100 }), (all, others) => {
        const { executions, troubles } = historyOf(all);
        const belief = believe(executions, troubles);
        const contradicted = foldContradiction(
          belief,
          { executionId: '1', commit: 'p', finishedAt: BEGUN },
          troubleOf(others),
          executions.at(-1)?.finishedAt ?? BEGUN,
        );
        expect(probabilitiesOf(contradicted).broken).toBeLessThanOrEqual(probabilitiesOf(belief).broken + 1e-9);
        if (others === 0)
          expect(probabilitiesOf(contradicted).flaky).toBeGreaterThanOrEqual(probabilitiesOf(belief).flaky - 1e-9);
      }),
    );
  });
});

describe('histories of a test in a run of 150', () => {
  const said = (history: string, others = 0, executions = 150) => verdictOf(after(history, others, executions)).status;

  test('that only passed are healthy', () => expect(said(PASSES)).toBe('healthy'));
  test('that fail with a commit and the next are broken, since that commit', () => {
    const { status, evidence } = verdictOf(after(`${PASSES}F|F`));
    expect([status, evidence[0]?.commit]).toEqual(['broken', 'c60']);
  });
  test('that fail on a commit that passed are broken from outside by the third failure', () =>
    expect(said(`${PASSES}..FFF`)).toBe('broken'));
  test('that fail and pass on one commit, twice, are flaky', () => {
    const belief = after(`${PASSES}F.|${PASSES}F.`);
    expect(verdictOf(belief).status).toBe('flaky');
    expect(new Set(belief.evidence.map(({ commit }) => commit)).size).toBe(2);
  });
  test('that are fixed are healthy again', () => expect(said(`${PASSES}F|F|F|.|.|.`)).toBe('healthy'));
  test('that fail together with half of the run, and pass in the next, are healthy', () =>
    expect(said(`${PASSES}F|${PASSES}F.`, 75)).toBe('healthy'));
  test('that fail with half of the run for six hours are not broken yet', () =>
    expect(said(`${PASSES}F|F|F`, 75)).toBe('healthy'));
  test('that fail with half of the run for two days are broken', () =>
    expect(said(`${PASSES}${'F|'.repeat(16)}`, 75)).toBe('broken'));
  test('that fail with three others of five prove nothing', () =>
    expect(said(`${PASSES}F.|${PASSES}F.`, 3, 5)).toBe('healthy'));
  test('that passed a few times after failing are flaky still', () =>
    expect(said(`${PASSES}F.|F.|F.|${'.|'.repeat(20)}`)).toBe('flaky'));
  test('that passed a thousand times after failing have recovered', () =>
    expect(said(`${PASSES}F.|F.|F.|${'.|'.repeat(3_000)}`)).toBe('healthy'));
});

const PLACE = { pipelineName: 'CI', jobName: 'unit' };

describe('an automatic quarantine', () => {
  const reasonOf = (belief: Belief, search: QuarantineSearch = 'flaky', releasedAt = 0) =>
    quarantineCause(search, [{ ...PLACE, belief, newestAt: belief.trouble.at }], releasedAt)?.reason;
  const flaky = after(`${PASSES}F.|${PASSES}F.|.F.`);
  const broken = after(`${PASSES}${'F|'.repeat(16)}`);
  const newest = flaky.evidence.at(-1)?.finishedAt ?? 0;

  test('names its evidence', () =>
    expect(reasonOf(flaky)).toMatch(
      /^Flaky in CI \/ unit with a probability of 9\d(?:\.\d)?%: fails in about \d+% of its runs when nothing else does, lately on c60, c121, c122\.$/,
    ));
  test('names commits as Git does, by the first digits of their hashes', () => {
    const hashed = flaky.evidence.map((one) => ({ ...one, commit: new Bun.SHA1().update(one.commit).digest('hex') }));
    expect(reasonOf({ ...flaky, evidence: hashed })).toMatch(/lately on (?:[0-9a-f]{10}(?:, |\.$)){3}/);
  });
  test('wants two commits', () => {
    const belief = after(`${PASSES}F.F.F.F.F.`);
    expect([verdictOf(belief).status, reasonOf(belief)]).toEqual(['flaky', undefined]);
  });
  test('counts nothing that the run explains', () =>
    expect(reasonOf(after(`${PASSES}F.|${PASSES}F.|.F.`, 30))).toBeUndefined());
  test('counts nothing from before a release', () => {
    expect(reasonOf(flaky, 'flaky', newest - 1)).toBeUndefined();
    expect(reasonOf(flaky, 'flaky', (flaky.evidence[0]?.finishedAt ?? 0) - 1)).toBeDefined();
  });
  test('is made of broken tests only where flaky ones are not looked for', () => {
    const search = (mode: AutoQuarantineMode, isEnabled = false) => quarantineSearch(mode, isEnabled);
    expect([search('flaky'), search('flaky+broken'), search('flaky+broken', true)]).toEqual([
      'off',
      'broken',
      'flaky+broken',
    ]);
    expect([reasonOf(flaky, 'broken'), reasonOf(broken, 'broken')]).toEqual([undefined, expect.any(String)]);
  });
  test('of a broken test wants the other mode, three commits and a day without a pass', () => {
    expect(verdictOf(broken).status).toBe('broken');
    expect([reasonOf(broken), reasonOf(broken, 'off')]).toEqual([undefined, undefined]);
    expect(reasonOf(broken, 'flaky+broken')).toMatch(
      /^Broken in CI \/ unit with a probability of 9\d(?:\.\d)?%: failed on c\d+, c\d+, c\d+, c\d+ and \d+ more commits before without a pass, from 2026-01-12 \d\d:00 UTC to 2026-01-14 \d\d:00 UTC\.$/,
    );
    expect(reasonOf(after(`${PASSES}F|F|F|F`), 'flaky+broken')).toBeUndefined();
    expect(reasonOf(after(`${PASSES}${'F'.repeat(12)}`), 'flaky+broken')).toBeUndefined();
    expect(reasonOf(after(`${PASSES}${'F|'.repeat(16)}.`), 'flaky+broken')).toBeUndefined();
    expect(reasonOf(broken, 'flaky+broken', broken.trouble.at - HOUR_MS)).toBeUndefined();
  });
  test('is never made of a test that is called healthy, nor without two commits after the release', () => {
    fc.assert(
      fc.property(steps, fc.nat({ max: 60 * 30 }), (all, hours) => {
        const { executions, troubles } = historyOf(all);
        const belief = believe(executions, troubles);
        const releasedAt = BEGUN + hours * HOUR_MS;
        const cause = quarantineCause('flaky', [{ ...PLACE, belief, newestAt: BEGUN }], releasedAt);
        if (!cause) return;
        const decided = executions.filter(({ executionId }) => cause.executionIds.includes(String(executionId)));
        expect(belief.status).toBe('flaky');
        expect(decided.every(({ finishedAt }) => finishedAt > releasedAt)).toBe(true);
        expect(new Set(decided.map(({ commit }) => commit)).size).toBeGreaterThanOrEqual(2);
      }),
    );
  });
});

describe('recovery', () => {
  const isBack = (belief: Belief, { days = 4 } = {}) =>
    isRecovered([{ belief, newestAt: BEGUN + days * DAY_MS }], BEGUN);

  test('is believed of a test that was flaky when it is surely healthy, and has run for three days', () => {
    expect(isBack(after(`${PASSES}F.|${PASSES}F.|${PASSES}`))).toBe(false);
    const belief = after(`${PASSES}F.|F.|F.|${'.|'.repeat(3_000)}`);
    expect([isBack(belief), isBack(belief, { days: 2 })]).toEqual([true, false]);
    expect(isRecovered([], BEGUN)).toBe(false);
  });
  test('is not believed of an unknown test', () => expect(isBack(after('.|.'))).toBe(false));
  test('is taken back only when the test is called flaky or broken again', () => {
    fc.assert(
      fc.property(steps, (all) => {
        const { executions, troubles } = historyOf(all);
        let before = after(PASSES);
        for (const execution of executions) {
          const next = believe([execution], troubles, before);
          if (isSurelyHealthy(before) && !isSurelyHealthy(next)) expect(next.status).not.toBe('healthy');
          before = next;
        }
      }),
    );
  });
});

describe('the cause of a failure', () => {
  const causesOf = (all: readonly Step[]) => {
    const { executions, troubles } = historyOf(all);
    const course = new BeliefCourse({ belief: after(PASSES), at: null });
    for (const execution of executions) course.add(execution, troubles.get(execution.executionId));
    return executions.flatMap(({ executionId }) => course.causes.get(String(executionId)) ?? []);
  };
  const failed: Step = { status: 'failed', isRetried: false, isNewCommit: true, hours: 3, trouble: 0 };
  const passed: Step = { ...failed, status: 'passed', isNewCommit: false };

  test('is its commit if it fails from a new commit on', () =>
    expect(causesOf([failed, failed])).toEqual(['commit', 'commit']));
  test('is the world outside if it fails on a commit that had passed', () =>
    expect(causesOf([{ ...passed, isNewCommit: true }, { ...failed, isNewCommit: false }, failed, failed])).toEqual([
      'outside',
      'outside',
      'outside',
    ]));
  test('is the test itself if one commit fails and passes', () =>
    expect(causesOf([failed, passed, failed, passed])).toEqual(['test', 'test']));
  test('of a flaky test is the commit that broke it, once it keeps failing', () => {
    const flaky = [
      failed,
      passed,
      failed,
      passed,
      ...Array.from({ length: 10 }, () => ({ ...passed, isNewCommit: true })),
    ];
    const broken = Array.from({ length: 6 }, () => failed);
    expect(causesOf([...flaky, ...broken])).toEqual(['test', 'test', ...broken.map(() => 'commit' as const)]);
  });
  test('is the run if much else fails in it', () =>
    expect(causesOf([{ ...failed, trouble: 40 }, passed])).toEqual(['run']));
  test('is known of everything that went wrong, and of nothing else', () => {
    fc.assert(
      fc.property(steps, (all) => {
        const { executions } = historyOf(all);
        expect(causesOf(all)).toHaveLength(executions.filter(isTrouble).length);
      }),
    );
  });
});

test('a failure on its own weighs more than one that many share', () => {
  const alone = foldBelief(
    newBelief(),
    { executionId: '1', result: 'retried', finishedAt: BEGUN, commit: 'c' },
    RARE_TROUBLE,
  );
  const shared = foldBelief(
    newBelief(),
    { executionId: '1', result: 'retried', finishedAt: BEGUN, commit: 'c' },
    troubleOf(40),
  );
  expect(probabilitiesOf(alone).flaky).toBeGreaterThan(probabilitiesOf(shared).flaky);
});

test('a failure on a new commit is less likely a break the more tests ran beside it', () => {
  const brokenAmong = (executions: number): number => {
    const pass = { executionId: '0', result: 'passed', finishedAt: BEGUN, commit: 'b' } as const;
    const passed = Array.from({ length: 300 }).reduce<Belief>((belief) => foldBelief(belief, pass), newBelief());
    const failure = { executionId: '1', result: 'failed', finishedAt: BEGUN + 1, commit: 'c' } as const;
    return probabilitiesOf(foldBelief(passed, failure, troubleOf(0, executions))).broken;
  };
  const size = fc.integer({ min: 300, max: 50_000 });
  fc.assert(
    fc.property(size, size, (one, other) => {
      const [few, many] = [Math.min(one, other), Math.max(one, other)];
      expect(brokenAmong(many)).toBeLessThanOrEqual(brokenAmong(few) + 1e-3);
    }),
  );
  expect(brokenAmong(50_000)).toBeLessThan(brokenAmong(150) / 2);
});
