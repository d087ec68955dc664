import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { type JudgedExecution, runKeyOf } from '../../src/domain/execution.ts';
import {
  type FailingTest,
  type Hold,
  holdsOf,
  mayBeTroubled,
  type Trouble,
  troubleOf,
} from '../../src/domain/infrastructure.ts';
import { judge } from '../../src/domain/judge.ts';
import {
  PASSED_RECENTLY_MS,
  REPEATED_FAILURE_EXECUTIONS,
  REPEATED_FAILURE_MS,
} from '../../src/domain/judgement-constants.ts';
import { isRecovered, type QuarantineEvidence, quarantineReason } from '../../src/domain/quarantine-rules.ts';
import { REPETITION_REACH_EXECUTIONS, repeatedFailures } from '../../src/domain/repetition.ts';
import { DAY_MS } from '../../src/domain/time.ts';
import { randomFrom } from '../support/random.ts';

const HOUR = 3_600_000;
const nothing: ReadonlySet<bigint> = new Set();

let ids = 0n;
function make(given: Partial<JudgedExecution> & { at?: number }): JudgedExecution {
  ids++;
  const { at = 0, ...rest } = given;
  return {
    executionId: ids,
    status: 'passed',
    finishedAt: at,
    runId: `run at ${at}`,
    runAttempt: 1,
    commit: `commit at ${at}`,
    isFlakyWithinRun: false,
    isRetried: false,
    ...rest,
  };
}

const execution: fc.Arbitrary<JudgedExecution> = fc.record({
  executionId: fc.bigInt({ min: 0n, max: (1n << 64n) - 1n }),
  status: fc.constantFrom('passed', 'passed', 'failed', 'skipped'),
  finishedAt: fc.integer({ min: 0, max: 400 }).map((hours) => hours * HOUR),
  runId: fc.constantFrom('1', '2', '3', '4', '5', '6'),
  runAttempt: fc.integer({ min: 1, max: 2 }),
  commit: fc.constantFrom('', 'a', 'b', 'c', 'd', 'e'),
  isFlakyWithinRun: fc.constantFrom(false, false, false, true),
  isRetried: fc.constantFrom(false, false, false, true),
});
const history = fc.uniqueArray(execution, { selector: (one) => one.executionId, maxLength: 40 });
const shuffled = history.chain((all) =>
  fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length })),
);
/** Every third run is troubled, every sixth totally. */
const troublesOf = (all: readonly JudgedExecution[]): Map<string, Trouble> =>
  new Map(
    all.flatMap((one) => {
      const number = Number(one.runId) + one.runAttempt;
      return number % 3 === 0 ? [[runKeyOf(one), number % 2 === 0 ? 'total' : 'partial'] as const] : [];
    }),
  );
const sorted = <V>(map: ReadonlyMap<bigint, V>): [bigint, V][] => [...map].sort(([a], [b]) => (a < b ? -1 : 1));

describe('failures that repeat', () => {
  const fingerprints = (all: readonly JudgedExecution[], of = (_: JudgedExecution) => 'f') =>
    new Map(all.filter((one) => one.status === 'failed').map((one) => [one.executionId, of(one)]));
  const repeated = (all: readonly JudgedExecution[]): number[] => {
    const found = repeatedFailures(all, nothing, fingerprints(all));
    return all.flatMap((one, i) => (found.has(one.executionId) ? [i] : []));
  };
  const [pass, fail] = [(at: number) => make({ at }), (at: number) => make({ at, status: 'failed' })];

  test('two failures, each with a pass on the commit before and on the commit after, are both flaky', () => {
    expect(repeated([pass(1), fail(2), pass(3), fail(4), pass(5)])).toEqual([1, 3]);
  });

  test.each([
    ['only one', [pass(1), fail(2), pass(3)]],
    ['no pass before', [fail(2), pass(3), fail(4), pass(5)]],
    ['no pass after', [pass(1), fail(2), pass(3), fail(4)]],
    ['two in a row', [pass(1), fail(2), fail(3), pass(4)]],
    [
      'one commit',
      [
        pass(1),
        make({ at: 2, status: 'failed', commit: 'x' }),
        make({ at: 3, status: 'failed', commit: 'x' }),
        pass(4),
      ],
    ],
    [
      'unknown commits',
      [
        pass(1),
        make({ at: 2, status: 'failed', commit: '' }),
        pass(3),
        make({ at: 4, status: 'failed', commit: '' }),
        pass(5),
      ],
    ],
    [
      'passes on unknown commits',
      [make({ at: 1, commit: '' }), fail(2), make({ at: 3, commit: '' }), fail(4), make({ at: 5, commit: '' })],
    ],
    ['skipped in place of passes', [pass(1), fail(2), make({ at: 3, status: 'skipped' }), fail(4), pass(5)]],
    [
      'more than 14 days between them',
      [
        pass(1),
        fail(2),
        pass(3),
        pass(REPEATED_FAILURE_MS),
        fail(REPEATED_FAILURE_MS + 3),
        pass(REPEATED_FAILURE_MS + 4),
      ],
    ],
    [
      'more than 50 executions between them',
      [
        pass(1),
        fail(2),
        ...Array.from({ length: REPEATED_FAILURE_EXECUTIONS }, (_, i) => pass(i + 3)),
        fail(60),
        pass(61),
      ],
    ],
  ])('%s prove nothing', (_, all) => expect(repeated(all)).toEqual([]));

  test('failures with another message have no counterpart', () => {
    const all = [pass(1), fail(2), pass(3), fail(4), pass(5)];
    expect(
      repeatedFailures(
        all,
        nothing,
        fingerprints(all, (one) => `at ${one.finishedAt}`),
      ).size,
    ).toBe(0);
  });

  test('matrix legs or tests with the same name, of which one fails and one passes, are not evidence', () => {
    const leg = (at: number): JudgedExecution => make({ at, runId: `run at ${at}` });
    expect(repeated([pass(1), fail(2), leg(2), pass(3), fail(4), leg(4), pass(5)])).toEqual([]);
  });

  test('the order of arrival does not matter', () => {
    fc.assert(
      fc.property(shuffled, ([all, other]) => {
        const found = (some: readonly JudgedExecution[]) =>
          [...repeatedFailures(some, nothing, fingerprints(all))].sort();
        expect(found(other)).toEqual(found(all));
      }),
    );
  });

  /** With the history cut off at every place in turn, the verdicts beyond the reach of the cut must stay the same. */
  function expectSameBeyondReach(all: readonly JudgedExecution[]): void {
    const whole = repeatedFailures(all, nothing, fingerprints(all));
    for (let from = 1; from < all.length - REPETITION_REACH_EXECUTIONS; from++) {
      const near = repeatedFailures(all.slice(from), nothing, fingerprints(all));
      for (const one of all.slice(from + REPETITION_REACH_EXECUTIONS))
        if (near.has(one.executionId) !== whole.has(one.executionId))
          throw new Error(`cut off before ${from}, the execution at ${one.finishedAt} is judged differently`);
    }
  }

  test('what is beyond its reach changes nothing, so an evaluation need not read it', () => {
    fc.assert(
      fc.property(fc.integer(), (seed) => {
        const random = randomFrom(seed);
        const everyMs = random() < 0.5 ? HOUR : 8 * HOUR;
        const all = Array.from({ length: 230 }, (_, i) => {
          const commit = random() < 0.1 ? '' : `c${Math.floor((i + random() * 30) / 4)}`;
          return make({
            at: i * everyMs,
            status: random() < 0.08 ? 'failed' : 'passed',
            commit,
            runId: `${commit}/${Math.floor(random() * 2)}`,
          });
        });
        expectSameBeyondReach(all);
      }),
      { numRuns: 20 },
    );
  });

  test('the reach is enough when a counterpart, its neighbour and what makes that ambiguous are as far apart as possible', () => {
    const far = REPEATED_FAILURE_EXECUTIONS;
    const [ambiguous, neighbour, counterpart, last] = [0, far, 2 * far, 3 * far];
    const all = Array.from({ length: 3 * far + 60 }, (_, i) => {
      if (i === counterpart || i === last) return make({ at: i, status: 'failed' });
      if (i === neighbour) return make({ at: i, commit: 'x', runId: 'x' });
      // No other execution before the counterpart has a known commit, so only the neighbour can isolate it.
      if (i === ambiguous) return make({ at: i, status: 'failed', commit: 'x', runId: 'x' });
      return make({ at: i, commit: i < counterpart ? '' : `c${i}` });
    });
    expect(repeatedFailures(all, nothing, fingerprints(all)).size).toBe(0);
    expect(repeatedFailures(all.slice(1), nothing, fingerprints(all)).size).toBe(2);
    expectSameBeyondReach([make({ at: -1 }), ...all]);
  });
});

describe('infrastructure trouble', () => {
  const failing = (count: number, test: Partial<FailingTest> = {}): FailingTest[] =>
    Array.from({ length: count }, () => ({ failures: 1, lastPassAt: 10 * DAY_MS, lastFailureAt: null, ...test }));
  const run = (passed: number, failed: number) => ({ startedAt: 10 * DAY_MS + HOUR, passed, failed });

  test('ten failing tests that passed before and 30 % of the run make it partial, 90 % make it total', () => {
    expect(troubleOf(run(0, 9), failing(9))).toBe('none');
    expect(troubleOf(run(0, 10), failing(10))).toBe('total');
    expect(troubleOf(run(23, 10), failing(10))).toBe('partial');
    expect(troubleOf(run(24, 10), failing(10))).toBe('none');
    expect(troubleOf(run(1, 10), failing(10))).toBe('total');
    expect(troubleOf(run(2, 10), failing(10))).toBe('partial');
  });

  test('tests that already failed before do not make a run troubled', () => {
    const startedAt = run(0, 20).startedAt;
    const lastPassAt = startedAt - PASSED_RECENTLY_MS - 1;
    expect(troubleOf(run(0, 20), failing(20, { lastPassAt, lastFailureAt: startedAt - 1 }))).toBe('none');
    expect(troubleOf(run(0, 20), failing(20, { lastPassAt: null }))).toBe('none');
    expect(troubleOf(run(0, 20), failing(20, { lastPassAt: lastPassAt + 1, lastFailureAt: startedAt - 1 }))).toBe(
      'total',
    );
    expect(troubleOf(run(0, 20), failing(20, { lastPassAt, lastFailureAt: null }))).toBe('total');
  });

  test('totals never rule out a troubled run', () => {
    fc.assert(
      fc.property(fc.nat(100), fc.nat(100), (passed, tests) => {
        const totals = run(passed, tests);
        if (troubleOf(totals, failing(tests)) !== 'none') expect(mayBeTroubled(totals)).toBe(true);
      }),
    );
  });

  const hold = (all: readonly JudgedExecution[], troubled: Record<number, Trouble>): (Hold | undefined)[] => {
    const troubles = new Map(
      all.flatMap((one, i) => (troubled[i] === undefined ? [] : [[runKeyOf(one), troubled[i]] as const])),
    );
    const holds = holdsOf(all, troubles);
    return all.map((one) => holds.get(one.executionId));
  };
  const failed = (at: number) => make({ at, status: 'failed' });

  test('a failure waits for the next run: a failure there releases it, a pass holds it back for good', () => {
    expect(hold([failed(1)], { 0: 'partial' })).toEqual(['pending']);
    expect(hold([failed(1), failed(2)], { 0: 'partial' })).toEqual(['released', undefined]);
    expect(hold([failed(1), make({ at: 2 })], { 0: 'partial' })).toEqual(['held_back', undefined]);
  });

  test('a totally troubled run confirms nothing, a partially troubled one does', () => {
    expect(hold([failed(1), failed(2)], { 0: 'total', 1: 'total' })).toEqual(['pending', 'pending']);
    expect(hold([failed(1), failed(2), failed(3)], { 0: 'total', 1: 'total' })).toEqual([
      'released',
      'released',
      undefined,
    ]);
    expect(hold([failed(1), failed(2)], { 0: 'partial', 1: 'partial' })).toEqual(['released', 'pending']);
  });

  test('another result of the same attempt does not decide', () => {
    const leg = make({ at: 2, status: 'failed', runId: 'run at 1' });
    expect(hold([failed(1), leg], { 0: 'partial' })).toEqual(['pending', 'pending']);
  });

  test('passes are never held back, except flaky ones', () => {
    const flakyPass = make({ at: 1, isFlakyWithinRun: true });
    expect(hold([make({ at: 0 }), flakyPass], { 0: 'total', 1: 'total' })).toEqual([undefined, 'pending']);
  });

  test('the order of arrival does not matter, and what is held back is never flaky', () => {
    fc.assert(
      fc.property(shuffled, ([all, other]) => {
        const evidence = {
          troubles: troublesOf(all),
          fingerprints: new Map(all.map((one) => [one.executionId, 'f'])),
          isFlakyDetectionEnabled: true,
        };
        const [one, two] = [judge(all, evidence), judge(other, evidence)];
        expect(sorted(two.holds)).toEqual(sorted(one.holds));
        expect(sorted(two.flaky)).toEqual(sorted(one.flaky));
        for (const id of one.heldBack) expect(one.flaky.has(id)).toBe(false);
      }),
    );
  });

  test('a skipped run changes nothing', () => {
    fc.assert(
      fc.property(history, (all) => {
        const evidence = {
          troubles: troublesOf(all),
          fingerprints: new Map(all.map((one) => [one.executionId, 'f'])),
          isFlakyDetectionEnabled: true,
        };
        const conclusive = all.filter((one) => one.status !== 'skipped');
        expect(judge(all, evidence)).toEqual(judge(conclusive, evidence));
      }),
    );
  });
});

describe('auto-quarantine', () => {
  const evidence: QuarantineEvidence = {
    pipelineName: 'CI',
    jobName: 'unit',
    health: 'flaky',
    executions: 100,
    failures: 2,
    firstAt: 0,
    newestAt: HOUR,
    flakyCommits: 2,
    brokenCommits: 3,
    brokenFirstAt: 0,
    brokenNewestAt: DAY_MS,
  };

  test('each condition is needed, and together they are enough', () => {
    expect(quarantineReason('flaky', [evidence])).toContain('failed in 2 of 100 executions (2.0 %)');
    for (const less of [
      { health: 'healthy' },
      { health: 'broken' },
      { executions: 19 },
      { failures: 1 },
      { newestAt: HOUR - 1 },
      { flakyCommits: 1 },
    ] as const)
      expect(quarantineReason('flaky', [{ ...evidence, ...less }])).toBeNull();
    const broken = { ...evidence, health: 'broken' as const };
    expect(quarantineReason('flaky+broken', [broken])).toContain('failed on 3 commits without a pass');
    for (const less of [{ brokenCommits: 2 }, { brokenNewestAt: DAY_MS - 1 }, { health: 'healthy' as const }])
      expect(quarantineReason('flaky+broken', [{ ...broken, ...less }])).toBeNull();
  });

  test('off quarantines nothing, and broken tests are quarantined only in the mode that says so', () => {
    const any = fc.record({
      pipelineName: fc.string(),
      jobName: fc.string(),
      health: fc.constantFrom('healthy' as const, 'flaky' as const, 'broken' as const),
      executions: fc.nat(1_000),
      failures: fc.nat(1_000),
      firstAt: fc.nat(DAY_MS),
      newestAt: fc.nat(3 * DAY_MS),
      flakyCommits: fc.nat(5),
      brokenCommits: fc.nat(5),
      brokenFirstAt: fc.nat(DAY_MS),
      brokenNewestAt: fc.nat(3 * DAY_MS),
    });
    fc.assert(
      fc.property(fc.array(any, { maxLength: 3 }), (identities) => {
        expect(quarantineReason('off', identities)).toBeNull();
        const flakyOnes = identities.filter((one) => one.health === 'flaky');
        expect(quarantineReason('flaky', identities)).toEqual(quarantineReason('flaky', flakyOnes));
        const oneCommit = identities.map((one) => ({ ...one, flakyCommits: 1, brokenCommits: 1 }));
        expect(quarantineReason('flaky+broken', oneCommit)).toBeNull();
      }),
    );
  });

  test('a test has recovered when every identity is healthy and has passed often enough', () => {
    const good = { health: 'healthy' as const, cleanPasses: 10, cleanPassesNeeded: 10 };
    expect(isRecovered([good])).toBe(true);
    expect(isRecovered([good, { ...good, cleanPasses: 9 }])).toBe(false);
    expect(isRecovered([good, { ...good, health: 'flaky' }])).toBe(false);
    expect(isRecovered([])).toBe(false);
  });
});
