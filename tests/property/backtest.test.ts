/** Backtests: the replay knows only the past, and what it says it would have spared and hidden. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import {
  excusedBy,
  mostAtOnce,
  type PolicyJudge,
  type ReplayedQuarantine,
  stepsOf,
  TestReplay,
} from '../../src/domain/backtest.ts';
import { RulesCourse, RulesJudge } from '../../src/domain/backtest-judge.ts';
import { backtestPolicySchema, constantsOf, parseConstant } from '../../src/domain/backtest-policy.ts';
import { firstSeenOf, regressionsOf } from '../../src/domain/backtest-regressions.ts';
import { comparePositions, type JudgedExecution } from '../../src/domain/execution.ts';
import { meaningOf, type RunMeaning } from '../../src/domain/judge-runs.ts';
import {
  isRecovered,
  QUARANTINE_CONSTANTS,
  type QuarantineEvidence,
  quarantineCause,
} from '../../src/domain/quarantine-rules.ts';
import { type RedRun, RedRunCounts } from '../../src/domain/red-runs.ts';
import { NOTHING_RAN_BEFORE } from '../../src/domain/run-trouble.ts';
import type { Status } from '../../src/domain/status.ts';
import type { Leg } from '../../src/domain/test-identity.ts';
import { DAY_MS, HOUR_MS } from '../../src/domain/time.ts';

const START = 1_790_000_000_000;
type Placed = JudgedExecution & Leg;

/** Low enough that short histories quarantine. */
const CONSTANTS = constantsOf({
  QUARANTINE_PROBABILITY_MIN: 0.6,
  QUARANTINE_FLAKY_COMMITS_MIN: 1,
  QUARANTINE_BROKEN_COMMITS_MIN: 2,
  QUARANTINE_BROKEN_MS_MIN: 0,
});
const POLICY = { mode: 'flaky+broken', constants: CONSTANTS, isNarrowed: false } as const;

interface History {
  executions: Placed[];
  fingerprints: Map<bigint, string>;
  meanings: Map<bigint, RunMeaning>;
}

const execution = fc.record({
  job: fc.constantFrom('unit', 'unit', 'unit', 'e2e'),
  hours: fc.constantFrom(1, 1, 5, 20, 100),
  commit: fc.constantFrom('', 'a', 'b', 'c', 'd', 'new', 'new', 'new'),
  status: fc.constantFrom<Status>('passed', 'passed', 'passed', 'passed', 'failed'),
  attempt: fc.constantFrom(1, 1, 1, 2),
  run: fc.constantFrom('new', 'new', 'new', 'r1', 'r2'),
  isFlakyWithinRun: fc.integer({ min: 0, max: 20 }).map((n) => n === 0),
  isRetried: fc.integer({ min: 0, max: 20 }).map((n) => n === 0),
  group: fc.constantFrom('one', 'one', 'other', undefined),
  othersFail: fc.constantFrom(0, 0, 0, 0, 0, 3, 30),
  passes: fc.integer({ min: 0, max: 20 }).map((n) => (n === 0 ? 300 : 0)),
});

/** With passes by the hundred now and then, so that tests recover. */
const history = (maxLength: number): fc.Arbitrary<History> =>
  fc.array(execution, { minLength: 1, maxLength, size: 'max' }).map((drawn) => {
    let at = START;
    const fingerprints = new Map<bigint, string>();
    const meanings = new Map<bigint, RunMeaning>();
    const calm = (jobName: string, i: number): Placed => {
      at += HOUR_MS;
      const names = { runId: `calm ${at}`, runAttempt: 1, commit: `calm ${at}` };
      const made = {
        ...names,
        executionId: BigInt(i + 1_000_000),
        pipelineName: 'CI',
        jobName,
        axes: '',
        finishedAt: at,
      };
      return { ...made, status: 'passed', isFlakyWithinRun: false, isRetried: false };
    };
    const executions = drawn.flatMap((one, i): Placed[] => {
      at += one.hours * HOUR_MS;
      const executionId = BigInt(i + 1);
      const made = {
        executionId,
        pipelineName: 'CI',
        jobName: one.job,
        axes: '',
        status: one.status,
        finishedAt: at,
        runId: one.run === 'new' ? `run ${i}` : one.run,
        runAttempt: one.attempt,
        commit: one.commit === 'new' ? `commit ${i}` : one.commit,
        isFlakyWithinRun: one.isFlakyWithinRun,
        isRetried: one.isRetried,
      };
      if (one.status === 'failed' && one.group) fingerprints.set(executionId, one.group);
      meanings.set(
        executionId,
        meaningOf(
          { place: '', executions: 100, unexpected: one.othersFail + 1, isOnDefaultBranch: true },
          NOTHING_RAN_BEFORE,
        ),
      );
      return [made, ...Array.from({ length: one.passes }, (_, j) => calm(one.job, 1_000 * i + j))];
    });
    return { executions, fingerprints, meanings };
  });

const evidenceOf = ({ fingerprints, meanings }: History) => ({
  isFlakyDetectionEnabled: true,
  fingerprints,
  meaningOf: (one: Placed) => meanings.get(one.executionId),
  cluesOf: () => [],
});

/** Beliefs about the identities that ran lately, from everything that had finished by a moment. */
function identitiesAt(given: History, at: number): (QuarantineEvidence & { newestAt: number })[] {
  const known = given.executions.filter(({ finishedAt }) => finishedAt <= at);
  const newest = Math.max(...known.map(({ finishedAt }) => finishedAt));
  return [...Map.groupBy(known, ({ jobName }) => jobName)].flatMap(([jobName, group]) => {
    const course = new RulesCourse({ pipelineName: 'CI', jobName, axes: '' }, evidenceOf(given));
    for (const one of group.sort(comparePositions)) course.add(one);
    const newestAt = group.at(-1)?.finishedAt ?? 0;
    return newestAt > newest - 14 * DAY_MS ? [{ pipelineName: 'CI', jobName, belief: course.belief, newestAt }] : [];
  });
}

const lastRelease = (all: readonly ReplayedQuarantine[], at: number): number =>
  all.filter(({ from }) => from < at).at(-1)?.until ?? 0;

function replayed(judged: PolicyJudge, executions: readonly Placed[], since = 0): ReplayedQuarantine[] {
  const replay = new TestReplay(judged, since);
  for (const step of stepsOf(executions)) replay.add(step);
  return replay.quarantines;
}

const byRules = (given: History, since = 0): ReplayedQuarantine[] =>
  replayed(new RulesJudge(POLICY, evidenceOf(given)), given.executions, since);

describe('a replay', () => {
  test('says of a moment what the rules say of everything that had finished by then', () => {
    let quarantines = 0;
    let recoveries = 0;
    fc.assert(
      fc.property(history(40), (given) => {
        const found = byRules(given);
        for (const { from, until, reason } of found) {
          quarantines++;
          const before = identitiesAt(given, from);
          const cause = quarantineCause(POLICY.mode, before, lastRelease(found, from), CONSTANTS);
          expect(cause?.reason).toBe(reason);
          if (until === null) continue;
          recoveries++;
          expect(isRecovered(identitiesAt(given, until), from)).toBe(true);
        }
      }),
      { numRuns: 60 },
    );
    // The histories are such that it says something.
    expect(quarantines).toBeGreaterThan(20);
    expect(recoveries).toBeGreaterThan(0);
  });

  test('knows nothing of what came later: a longer history only adds to it', () => {
    fc.assert(
      fc.property(history(60), fc.nat(59), (given, length) => {
        // A step is known as a whole, when the last of it has finished: cut between steps, never inside one.
        const steps = [...stepsOf(given.executions)].slice(0, length);
        const before = { ...given, executions: steps.flatMap(({ executions }) => executions) };
        const at = before.executions.at(-1)?.finishedAt ?? 0;
        const until = (one: ReplayedQuarantine) => (one.until !== null && one.until > at ? null : one.until);
        const known = byRules(given).filter(({ from }) => from <= at);
        expect(byRules(before)).toEqual(known.map((one) => ({ ...one, until: until(one) })));
      }),
    );
  });

  test('quarantines follow one another, none before the policy was on', () => {
    fc.assert(
      fc.property(history(60), fc.nat(400), (given, hours) => {
        const since = START + hours * HOUR_MS;
        let free = since;
        for (const { from, until } of byRules(given, since)) {
          expect(from).toBeGreaterThanOrEqual(free);
          if (until !== null) expect(until).toBeGreaterThan(from);
          free = until ?? Number.POSITIVE_INFINITY;
        }
      }),
    );
  });

  test('a policy that is off, or asks for more than there is, quarantines nothing', () => {
    fc.assert(
      fc.property(history(40), (given) => {
        const strict = constantsOf({ QUARANTINE_FLAKY_COMMITS_MIN: 1_000, QUARANTINE_BROKEN_COMMITS_MIN: 1_000 });
        for (const policy of [
          { ...POLICY, mode: 'off' as const },
          { ...POLICY, constants: strict },
        ])
          expect(replayed(new RulesJudge(policy, evidenceOf(given)), given.executions)).toEqual([]);
      }),
    );
  });

  test('narrowed to failure groups, it quarantines at the same moments, for groups that the test has shown', () => {
    fc.assert(
      fc.property(history(60), (given) => {
        const narrowed = replayed(new RulesJudge({ ...POLICY, isNarrowed: true }, evidenceOf(given)), given.executions);
        expect(narrowed.map((one): ReplayedQuarantine => ({ ...one, failureIds: null }))).toEqual(byRules(given));
        for (const { failureIds } of narrowed)
          for (const id of failureIds ?? []) expect([...given.fingerprints.values()]).toContain(id);
      }),
    );
  });
});

const interval = fc
  .record({
    from: fc.nat(100),
    length: fc.option(fc.integer({ min: 1, max: 50 })),
    groups: fc.option(fc.subarray(['a', 'b'])),
  })
  .map(
    ({ from, length, groups }): ReplayedQuarantine => ({
      reason: '',
      from,
      until: length === null ? null : from + length,
      failureIds: groups && new Set(groups),
    }),
  );
const quarantined = fc
  .dictionary(fc.constantFrom('1', '2', '3'), fc.array(interval, { maxLength: 2 }))
  .map((byTest) => new Map(Object.entries(byTest)));
const redRun: fc.Arbitrary<RedRun & { groups: (string | undefined)[] }> = fc.record({
  startedAt: fc.nat(200),
  isOnDefault: fc.boolean(),
  testIds: fc.subarray(['1', '2', '3'], { minLength: 1 }),
  groups: fc.array(fc.constantFrom('a', 'b', undefined), { minLength: 1, maxLength: 2 }),
});

function counted(
  of: ReadonlyMap<string, ReplayedQuarantine[]>,
  runs: readonly (RedRun & { groups: (string | undefined)[] })[],
) {
  const counts = new RedRunCounts(of);
  for (const run of runs) counts.add(run, () => run.groups);
  return counts;
}

describe('spared red runs', () => {
  test('are never more than red runs; without quarantines there are none', () => {
    fc.assert(
      fc.property(quarantined, fc.array(redRun), (of, runs) => {
        const counts = counted(of, runs);
        expect(counts.red).toBe(runs.length);
        expect(counts.spared).toBeLessThanOrEqual(counts.red);
        expect(counts.sparedOnDefault).toBeLessThanOrEqual(Math.min(counts.spared, counts.redOnDefault));
        for (const spared of counts.by.values()) expect(spared).toBeLessThanOrEqual(counts.spared);
        expect(counted(new Map(), runs)).toMatchObject({ red: runs.length, spared: 0, sparedOnDefault: 0 });
      }),
    );
  });

  test('have every failed test in quarantine; excusing every failure spares no fewer', () => {
    fc.assert(
      fc.property(quarantined, redRun, (of, run) => {
        const { spared } = counted(of, [run]);
        const excused = run.testIds.map((id) => excusedBy(of.get(id) ?? [], run.startedAt, run.groups));
        expect(spared === 1).toBe(excused.every((one) => one !== undefined));
        const everyFailure = (one: ReplayedQuarantine): ReplayedQuarantine => ({ ...one, failureIds: null });
        const whole = new Map([...of].map(([id, all]): [string, ReplayedQuarantine[]] => [id, all.map(everyFailure)]));
        expect(counted(whole, [run]).spared).toBeGreaterThanOrEqual(spared);
      }),
    );
  });

  test('a run that began when the quarantine was made, or without details of a narrowed one, stays red', () => {
    const one = { reason: '', from: 10, until: 20, failureIds: new Set(['a']) };
    const at = (startedAt: number, groups: (string | undefined)[]): number =>
      counted(new Map([['1', [one]]]), [{ startedAt, isOnDefault: true, testIds: ['1'], groups }]).spared;
    expect([at(10, ['a']), at(11, ['a']), at(19, ['a', 'a']), at(20, ['a'])]).toEqual([0, 1, 1, 0]);
    expect([at(11, [undefined]), at(11, ['']), at(11, ['a', 'b'])]).toEqual([0, 0, 0]);
  });

  test('the most at once is what counting at every moment gives', () => {
    fc.assert(
      fc.property(fc.array(interval), (all) => {
        const at = (moment: number) => all.filter(({ from, until }) => from <= moment && (until ?? 1_000) > moment);
        expect(mostAtOnce(all)).toBe(Math.max(0, ...all.map(({ from }) => at(from).length)));
      }),
    );
  });
});

describe('a regression', () => {
  /** `F` fails, `o` fails otherwise, `p` passes; each on its own commit. */
  const found = (course: string, flaky: number[] = []) => {
    const executions = [...course].map(
      (one, i): JudgedExecution => ({
        executionId: BigInt(i),
        status: one === 'p' ? 'passed' : 'failed',
        finishedAt: START + i * HOUR_MS,
        runId: String(i),
        runAttempt: 1,
        commit: `commit ${i}`,
        isFlakyWithinRun: flaky.includes(i),
        isRetried: false,
      }),
    );
    const groups = new Map([...course].flatMap((one, i) => (one === 'p' ? [] : [[BigInt(i), one] as const])));
    return regressionsOf(executions, new Set(), groups, firstSeenOf(executions, groups)).map(
      ({ kind, commit, commits, fixedBy }) => ({ kind, commit, commits, fixedBy }),
    );
  };

  test('is a new failure on two commits, or any failure on three or more that chance hardly explains, until a pass', () => {
    expect(found('ppFFpp')).toEqual([{ kind: 'new_failure', commit: 'commit 2', commits: 2, fixedBy: 'commit 4' }]);
    expect(found(`pFp${'p'.repeat(15)}FFFp`)).toEqual([
      { kind: 'lasting', commit: 'commit 18', commits: 3, fixedBy: 'commit 21' },
    ]);
    expect(found('pFpoo')).toEqual([{ kind: 'new_failure', commit: 'commit 3', commits: 2, fixedBy: null }]);
  });

  test('is not a single red commit, a failure that was there before on two, a row by chance, or one with a flaky failure', () => {
    expect(found('ppFpp')).toEqual([]);
    expect(found('pFpFFp')).toEqual([]);
    expect(found(`p${'Fpp'.repeat(20)}FFFp`)).toEqual([]);
    expect(found('pFpoFp')).toEqual([]);
    expect(found('pFFFFp', [2])).toEqual([]);
  });
});

describe('the constants of a policy', () => {
  test('are those of the service unless they are set', () => {
    expect(constantsOf({})).toEqual(QUARANTINE_CONSTANTS);
    expect(constantsOf(parseConstant('QUARANTINE_PROBABILITY_MIN=0.99'))).toEqual({
      ...QUARANTINE_CONSTANTS,
      QUARANTINE_PROBABILITY_MIN: 0.99,
    });
  });

  test.each([
    ['QUARANTINE_PROBABILITY_MIN', 'Write it as NAME=number'],
    ['RECOVERY_MS_MIN=2', 'changes only QUARANTINE_PROBABILITY_MIN, '],
    ['QUARANTINE_PROBABILITY_MIN=2', 'QUARANTINE_PROBABILITY_MIN: '],
    ['QUARANTINE_FLAKY_COMMITS_MIN=0', 'QUARANTINE_FLAKY_COMMITS_MIN: '],
    ['QUARANTINE_FLAKY_COMMITS_MIN=2.5', 'QUARANTINE_FLAKY_COMMITS_MIN: '],
  ])('%s is refused with what to do', (text, said) => {
    expect(() => parseConstant(text)).toThrow(said);
  });

  test('a policy of the API has defaults, and refuses what it does not know', () => {
    const policy = { auto_quarantine: 'flaky', since: '2026-09-22T00:00:00Z' };
    expect(backtestPolicySchema.parse(policy)).toMatchObject({ is_narrowed: false, constants: {} });
    for (const wrong of [{ since: '60d' }, { constants: { RECOVERY_MS_MIN: 1 } }, { auto_quarantine: 'all' }])
      expect(backtestPolicySchema.safeParse({ ...policy, ...wrong }).success).toBe(false);
  });
});
