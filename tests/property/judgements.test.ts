import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { comparePositions, type JudgedExecution } from '../../src/domain/execution.ts';
import { flakyOnCommit } from '../../src/domain/flakiness.ts';
import { cleanPassesNeeded, foldHealth, healthyState } from '../../src/domain/health.ts';
import { flakyOf as flakyWith } from '../../src/domain/judge.ts';
import { CLEAN_PASSES_MAX, CLEAN_PASSES_MIN } from '../../src/domain/judgement-constants.ts';
import { HEALTHS } from '../../src/domain/status.ts';
import { DAY_MS } from '../../src/domain/time.ts';
import { beginning, continueFold, foldSchema, writeFold } from '../../src/evaluation/fold.ts';

const HOUR = 3_600_000;

/** Histories with few runs, commits and times, so that collisions and contradictions are common. */
const execution: fc.Arbitrary<JudgedExecution> = fc.record({
  executionId: fc.bigInt({ min: 0n, max: (1n << 64n) - 1n }),
  status: fc.constantFrom('passed', 'passed', 'failed', 'skipped'),
  finishedAt: fc.integer({ min: 0, max: 400 }).map((hours) => hours * HOUR),
  runId: fc.constantFrom('1', '2', '3', '4', '5'),
  runAttempt: fc.integer({ min: 1, max: 2 }),
  commit: fc.constantFrom('', 'a', 'b', 'c', 'd'),
  isFlakyWithinRun: fc.constantFrom(false, false, false, true),
  isRetried: fc.constantFrom(false, false, false, true),
});
const history = fc.uniqueArray(execution, { selector: (one) => one.executionId, maxLength: 60 });
const shuffled = history.chain((all) =>
  fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length })),
);

const nothing: ReadonlySet<bigint> = new Set();
/** Every failure has the same message. */
const flakyOf = (all: JudgedExecution[]) => flakyWith(all, nothing, new Map(all.map((one) => [one.executionId, 'f'])));
const verdictsOf = (all: JudgedExecution[]) => ({ flaky: new Set(flakyOf(all).keys()), heldBack: nothing });
const foldAll = (all: JudgedExecution[]) => continueFold(beginning(), all, verdictsOf(all));

describe('flaky executions', () => {
  test('the order of arrival does not matter', () => {
    fc.assert(
      fc.property(shuffled, ([all, other]) => {
        expect([...flakyOf(other).keys()].sort()).toEqual([...flakyOf(all).keys()].sort());
      }),
    );
  });

  test('a failure with a pass in another attempt is flaky, and the pass is not', () => {
    const failed = make({ status: 'failed', runAttempt: 1 });
    const passed = make({ status: 'passed', runAttempt: 2 });
    for (const order of [
      [failed, passed],
      [passed, failed],
    ])
      expect([...flakyOnCommit(order).keys()]).toEqual([failed.executionId]);
  });

  test('skipped executions are not evidence', () => {
    const failed = make({ status: 'failed' });
    expect(flakyOnCommit([failed, make({ status: 'skipped', runAttempt: 2 })]).size).toBe(0);
  });

  test('an unknown commit is not evidence', () => {
    const failed = make({ status: 'failed', commit: '' });
    expect(flakyOnCommit([failed, make({ status: 'passed', runAttempt: 2, commit: '' })]).size).toBe(0);
  });

  test('an attempt with both results and no retry flag makes the name ambiguous', () => {
    const failed = make({ status: 'failed' });
    const namesake = make({ status: 'passed' });
    const later = make({ status: 'passed', runAttempt: 2 });
    expect(flakyOnCommit([failed, namesake, later]).size).toBe(0);
  });

  test('an execution that its source calls flaky is flaky, whatever else happened', () => {
    const flagged = make({ status: 'passed', isFlakyWithinRun: true });
    expect(flakyOnCommit([flagged]).get(flagged.executionId)).toBe('within_run');
  });
});

describe('health', () => {
  test('the order of arrival does not matter', () => {
    fc.assert(
      fc.property(shuffled, ([all, other]) => expect(foldAll(other).end.state).toEqual(foldAll(all).end.state)),
    );
  });

  test('a skipped execution changes nothing', () => {
    fc.assert(
      fc.property(history, (all) => {
        const conclusive = all.filter((one) => one.status !== 'skipped');
        expect(foldAll(all).end.state).toEqual(foldAll(conclusive).end.state);
      }),
    );
  });

  test('it moves at most one step per execution, and only along the rules', () => {
    const steps = new Set([
      'healthy>broken',
      'broken>healthy',
      'healthy>flaky',
      'broken>flaky',
      'flaky>healthy',
      'flaky>broken',
    ]);
    fc.assert(
      fc.property(history, (all) => {
        const flaky = flakyOf(all);
        let state = healthyState();
        for (const one of [...all].sort(comparePositions)) {
          const next = foldHealth(state, one, flaky.has(one.executionId));
          if (next.health !== state.health) expect(steps).toContain(`${state.health}>${next.health}`);
          expect(HEALTHS).toContain(next.health);
          state = next;
        }
      }),
    );
  });

  test('a fold continued from its checkpoint, read back from JSON, ends where a whole fold ends', () => {
    fc.assert(
      fc.property(history, fc.nat(400), (all, hours) => {
        const verdicts = verdictsOf(all);
        const early = all.filter((one) => one.finishedAt <= hours * HOUR);
        const { checkpoint } = continueFold(beginning(), early, verdicts);
        const readBack = foldSchema.parse(writeFold(checkpoint));
        expect(continueFold(readBack, all, verdicts).end.state).toEqual(foldAll(all).end.state);
      }),
    );
  });

  test('broken after a failure; healthy after two passing runs, not after one', () => {
    const steps = [
      make({ status: 'failed', at: 1 }),
      make({ at: 2, runId: '2', commit: 'b' }),
      make({ at: 3, runId: '3', commit: 'c' }),
    ];
    expect([1, 2, 3].map((count) => foldAll(steps.slice(0, count)).end.state.health)).toEqual([
      'broken',
      'broken',
      'healthy',
    ]);
  });

  test('flaky after a flaky execution; healthy only after enough clean passes over three days', () => {
    const flakyStart = make({ at: 0, isFlakyWithinRun: true });
    const passes = (count: number, everyMs: number) =>
      Array.from({ length: count }, (_, i) => make({ at: (i + 1) * everyMs, runId: `r${i}`, commit: `c${i}` }));
    const quick = [flakyStart, ...passes(100, HOUR / 2)];
    expect(foldAll(quick).end.state.health).toBe('flaky');
    const slow = [flakyStart, ...passes(100, HOUR)];
    expect(foldAll(slow).end.state.health).toBe('healthy');
    expect(foldAll([flakyStart, ...passes(9, DAY_MS)]).end.state.health).toBe('flaky');
  });

  test('a flaky test that fails on three commits in a row without a pass is broken', () => {
    const failures = ['x', 'y', 'z'].map((commit, i) => make({ status: 'failed', at: i + 1, runId: commit, commit }));
    const history = [make({ at: 0, isFlakyWithinRun: true }), ...failures];
    expect(foldAll(history.slice(0, 3)).end.state.health).toBe('flaky');
    expect(foldAll(history).end.state.health).toBe('broken');
  });
});

describe('clean passes that rule out luck', () => {
  test('a row that long is luck in at most 5 % of cases, and one pass fewer would not do, within bounds', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 500 }), fc.integer({ min: 1, max: 1_000 }), (failures, executions) => {
        fc.pre(failures <= executions);
        const n = cleanPassesNeeded(failures, executions);
        expect(n).toBeGreaterThanOrEqual(CLEAN_PASSES_MIN);
        expect(n).toBeLessThanOrEqual(CLEAN_PASSES_MAX);
        const p = failures / executions;
        if (p >= 0.01 && p <= 0.5) {
          expect((1 - p) ** n).toBeLessThanOrEqual(0.05);
          if (n > CLEAN_PASSES_MIN) expect((1 - p) ** (n - 1)).toBeGreaterThan(0.05);
        }
      }),
    );
  });
});

let ids = 0n;
function make(given: Partial<JudgedExecution> & { at?: number }): JudgedExecution {
  ids++;
  const { at = 0, ...rest } = given;
  return {
    executionId: ids,
    status: 'passed',
    finishedAt: at,
    runId: '1',
    runAttempt: 1,
    commit: 'a',
    isFlakyWithinRun: false,
    isRetried: false,
    ...rest,
  };
}
