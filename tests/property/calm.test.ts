/** What is counted without a look at the history of a test is what its history gives. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import type { Contradiction } from '../../src/domain/contradictions.ts';
import {
  comparePositions,
  isTrouble,
  type JudgedExecution,
  type Position,
  runKeyOf,
} from '../../src/domain/execution.ts';
import { followCourse, meaningOf, runNameOf } from '../../src/domain/judge-runs.ts';
import { hasOnlyPassed } from '../../src/domain/only-passed.ts';
import { emptySummary, type IdentitySummary, mergeSummaries, summaryOf } from '../../src/domain/test-state.ts';
import { DAY_MS, HOUR_MS } from '../../src/domain/time.ts';
import { type CalmTest, type CountedTest, countCalm, maybeCalm, mayMove } from '../../src/evaluation/calm.ts';
import { ExecutionColumns } from '../../src/evaluation/execution-columns.ts';
import { NewExecutions } from '../../src/evaluation/new-executions.ts';
import type { TestNews } from '../../src/evaluation/news.ts';
import { identityKey } from '../../src/evaluation/store.ts';
import { type StoredBelief, unknownBelief, writeBelief } from '../../src/postgres/belief-text.ts';
import type { Checkpoints } from '../../src/postgres/health-checkpoints.ts';
import type { IdentityRecord } from '../../src/postgres/test-states.ts';

const IDENTITY = { testId: 'sums', pipelineName: 'CI', jobName: 'unit' };
const BEGUN = Date.UTC(2026, 0, 5);
/** Runs in which the test fails: with others, most of the time. */
const ALONE = { executions: 150, unexpected: 1, isOnDefaultBranch: true };
const TROUBLED = { ...ALONE, unexpected: 41 };
const NOTHING = { executions: 0, unexpected: 0 };
const SURROUNDINGS = { hour: NOTHING, day: NOTHING, usual: NOTHING };
const NEVER_RUN = { health: 'healthy' as const, belief: unknownBelief(), summary: emptySummary, checkpointAt: 0 };

const executions = fc.uniqueArray(
  fc.record({
    executionId: fc.bigInt({ min: 1n, max: 500n }),
    status: fc.constantFrom('passed' as const, 'passed' as const, 'passed' as const, 'skipped' as const),
    // Several finish at the same moment.
    finishedAt: fc.nat({ max: 30 }).map((hours) => BEGUN + hours * HOUR_MS),
    runId: fc.constantFrom('1', '2', '10'),
    runAttempt: fc.constantFrom(1, 2),
    commit: fc.constantFrom('', 'a', 'b'),
    isFlakyWithinRun: fc.constant(false),
    isRetried: fc.constant(false),
  }),
  { selector: ({ executionId }) => executionId, minLength: 1, maxLength: 30 },
);

function newsOf(batch: readonly JudgedExecution[]): TestNews {
  const columns = new ExecutionColumns();
  const identity = new NewExecutions(columns, IDENTITY.testId, IDENTITY.pipelineName, IDENTITY.jobName);
  for (const execution of batch) {
    columns.beginLine({ ...IDENTITY, ...execution, framework: '', frameworkVersion: '', language: '' });
    identity.add(execution, '', '');
  }
  const hasTrouble = batch.some(isTrouble);
  return { name: 'sums', identities: [identity], failures: new Map(), since: 0, until: 0, hasTrouble };
}

/** The belief that the whole history up to some place gives. */
function followed(history: readonly JudgedExecution[], contradictions: readonly Contradiction[] = []): StoredBelief {
  const runs = new Map(
    [...history.filter(isTrouble), undefined].map((one) => {
      const meaning = meaningOf(one && Number(one.executionId) % 4 > 0 ? TROUBLED : ALONE, SURROUNDINGS);
      return [runNameOf('', one ? runKeyOf(one) : ''), { meaning }];
    }),
  );
  const { at, belief } = followCourse({ ...unknownBelief(), place: '', executions: history, contradictions }, runs);
  return { at, belief };
}

const summaryAfter = (before: IdentitySummary, { identities }: TestNews): IdentitySummary =>
  identities.map((one) => one.summary()).reduce(mergeSummaries, before);

/** As the evaluation does: with the checkpoints if they may move. */
function countWith(calm: CalmTest, row: Checkpoints | undefined, isContradicted = false): CountedTest | undefined {
  const rows = row && calm.identities.some(mayMove) ? [[identityKey(row), row] as const] : [];
  return countCalm(calm, {
    checkpoints: new Map(rows),
    contradicted: new Set(isContradicted ? [IDENTITY.testId] : []),
  });
}

/** Some two executions a day, mostly passes, and how many later ones arrive before each. */
const troubledLife = fc.array(
  fc.record({
    kind: fc.oneof(
      { weight: 40, arbitrary: fc.constant('passed' as const) },
      { weight: 2, arbitrary: fc.constant('failed' as const) },
      fc.constantFrom('retried' as const, 'contradicted' as const, 'skipped' as const),
    ),
    hours: fc.nat({ max: 16 }),
    isNewCommit: fc.boolean(),
    isOnOldCommit: fc.integer({ min: 1, max: 12 }).map((one) => one === 1),
    late: fc.constantFrom(0, 0, 0, 1, 2, 5, 12),
  }),
  { minLength: 30, maxLength: 120 },
);

type Life = (typeof troubledLife extends fc.Arbitrary<infer L> ? L : never)[number];

const PASS: Life = { kind: 'passed', hours: 8, isNewCommit: true, isOnOldCommit: false, late: 0 };

interface Arriving {
  execution: JudgedExecution;
  isContradiction: boolean;
}

/** In the order in which they arrive. */
function arrivals(life: readonly Life[]): Arriving[] {
  let [commit, finishedAt] = [0, BEGUN];
  return life
    .map(({ kind, hours, isNewCommit, isOnOldCommit, late }, i) => {
      if (isNewCommit) commit++;
      finishedAt += hours * HOUR_MS;
      const execution: JudgedExecution = {
        ...{ executionId: BigInt(i + 1), runId: String(i).padStart(4, '0'), runAttempt: 1, finishedAt },
        commit: `c${isOnOldCommit ? Math.max(0, commit - 2) : commit}`,
        status: kind === 'failed' || kind === 'skipped' ? kind : 'passed',
        ...{ isFlakyWithinRun: kind === 'retried', isRetried: kind === 'retried' },
      };
      return { execution, isContradiction: kind === 'contradicted', order: i + late };
    })
    .toSorted((one, other) => one.order - other.order);
}

test('passes are counted in whatever order they arrive, and checkpoints know of those before them', () => {
  fc.assert(
    fc.property(executions, fc.nat(), fc.array(fc.nat({ max: 5 }), { maxLength: 30 }), (all, older, sizes) => {
      let record: IdentityRecord | undefined;
      let checkpoints: Checkpoints | undefined;
      const arrived: JudgedExecution[] = [];
      for (let i = 0; arrived.length < all.length; i++) {
        const batch = all.slice(arrived.length, arrived.length + 1 + (sizes[i] ?? 0));
        arrived.push(...batch);
        const records = record ? [record] : [];
        const news = newsOf(batch);
        const calm = maybeCalm(IDENTITY.testId, news, records);
        const counted = calm && countWith(calm, checkpoints);
        if (!counted) throw new Error('a test that has only passed is calm');
        const [belief] = [...counted.beliefs.values(), counted.records[0]?.belief ?? unknownBelief()];
        expect(belief && writeBelief(belief)).toBe(writeBelief(followed(arrived)));
        for (const place of [...counted.checkpoints].flatMap((row) => [row.older, row.newer])) {
          const upTo = arrived.filter((one) => place.at && comparePositions(one, place.at) <= 0);
          expect(writeBelief(place)).toBe(writeBelief(followed(upTo)));
        }
        checkpoints = counted.checkpoints[0] ?? checkpoints;
        // As a checkpoint is taken: of what was known.
        if (record?.belief.at && (i + older) % 3 === 0)
          checkpoints = {
            ...IDENTITY,
            baseline: unknownBelief(),
            older: checkpoints?.newer ?? unknownBelief(),
            newer: counted.records[0]?.belief ?? unknownBelief(),
          };
        record = {
          ...IDENTITY,
          health: 'healthy',
          belief: belief ?? unknownBelief(),
          summary: summaryAfter(record?.summary ?? emptySummary, news),
          checkpointAt: checkpoints?.newer.at?.finishedAt ?? 0,
        };
      }
    }),
  );
});

test('passes of a test that failed are counted only where its history gives the same', () => {
  let late = 0;
  fc.assert(
    fc.property(
      fc.nat({ max: 100 }),
      troubledLife,
      fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1 }),
      (before, life, sizes) => {
        const arriving = arrivals([...Array.from({ length: before }, () => PASS), ...life]);
        const [known, contradictions]: [JudgedExecution[], Contradiction[]] = [[], []];
        let record: IdentityRecord = { ...IDENTITY, ...NEVER_RUN };
        let checkpoints: Checkpoints | undefined;
        for (let i = 0; arriving.length > 0; i++) {
          const batch = arriving.splice(0, sizes[i % sizes.length]);
          const added = batch.flatMap(({ execution, isContradiction }) => (isContradiction ? [] : [execution]));
          const contradicted = batch.filter(({ isContradiction }) => isContradiction).map(({ execution }) => execution);
          known.push(...added);
          contradictions.push(
            ...contradicted.map(({ commit, finishedAt, ...at }) => ({
              at: { ...at, finishedAt },
              failure: { executionId: `p${at.executionId}`, commit, finishedAt },
              run: '',
            })),
          );
          const upTo = ({ at }: StoredBelief): StoredBelief => {
            const isUpTo = (one: Position): boolean => at !== null && comparePositions(one, at) <= 0;
            return followed(
              known.filter(isUpTo),
              contradictions.filter(({ at }) => isUpTo(at)),
            );
          };
          const news = newsOf(added);
          const calm = contradicted.length > 0 ? undefined : maybeCalm(IDENTITY.testId, news, [record]);
          const counted = calm && countWith(calm, checkpoints, contradictions.length > 0);
          const [belief] = [...(counted?.beliefs.values() ?? [])];
          if (belief) {
            expect(writeBelief(belief)).toBe(writeBelief(followed(known, contradictions)));
            if (belief.at === record.belief.at && !hasOnlyPassed(belief.belief)) late++;
            checkpoints = counted?.checkpoints[0] ?? checkpoints;
            for (const place of checkpoints ? [checkpoints.older, checkpoints.newer] : [])
              expect(writeBelief(place)).toBe(writeBelief(upTo(place)));
          } else if (checkpoints)
            checkpoints = { ...checkpoints, older: upTo(checkpoints.older), newer: upTo(checkpoints.newer) };
          // As a checkpoint is taken: of what was known a day ago.
          const before = counted?.records[0]?.belief ?? upTo(record.belief);
          if ((before.at?.finishedAt ?? 0) - (checkpoints?.newer.at?.finishedAt ?? 0) >= 1.5 * DAY_MS)
            checkpoints = {
              ...IDENTITY,
              baseline: unknownBelief(),
              older: checkpoints?.newer ?? unknownBelief(),
              newer: before,
            };
          const checkpointAt = checkpoints?.newer.at?.finishedAt ?? 0;
          const end = belief ?? followed(known, contradictions);
          const summary = summaryAfter(record.summary, news);
          record = { ...IDENTITY, health: end.belief.status, belief: end, summary, checkpointAt };
        }
      },
    ),
    { numRuns: 600 },
  );
  // Else the property would say nothing.
  expect(late).toBeGreaterThan(50);
});

/** A pass after so many hours. */
const passAfter = (hours: number): JudgedExecution => ({
  ...{ executionId: BigInt(hours), status: 'passed', finishedAt: BEGUN + hours * HOUR_MS, runId: `${hours}` },
  ...{ runAttempt: 1, commit: `c${hours}`, isFlakyWithinRun: false, isRetried: false },
});

test('the first passes of a test about which a commit contradicts itself are not only counted', () => {
  const first = maybeCalm(IDENTITY.testId, newsOf([passAfter(1)]), []);
  const context = { checkpoints: new Map(), contradicted: new Set([IDENTITY.testId]) };
  expect(first && countCalm(first, context)).toBeUndefined();
  expect(first && countCalm(first, { ...context, contradicted: new Set() })).toBeDefined();
});

test('late passes of a test that failed are counted if counting began before their day, and after its baseline', () => {
  const failure: JudgedExecution = { ...passAfter(300), status: 'failed' };
  const history = [...Array.from({ length: 120 }, (_, i) => passAfter(10 * i + 5)), failure];
  const upTo = (hours: number): StoredBelief =>
    followed(history.filter(({ finishedAt }) => finishedAt < BEGUN + hours * HOUR_MS));
  const end = followed(history);
  expect(end.belief).toMatchObject({ status: 'healthy', wasFlaky: false });
  const summary = summaryOf(history, null);
  const countLate = (hours: number, baseline: StoredBelief, checkpointAt = BEGUN + 995 * HOUR_MS) => {
    const newer = upTo(1_000);
    const months = summary.months.slice(baseline.at ? 2 : 0);
    const record: IdentityRecord = {
      ...{ ...IDENTITY, ...NEVER_RUN, belief: end },
      ...{ summary: { ...summary, months }, checkpointAt },
    };
    const calm = maybeCalm(IDENTITY.testId, newsOf([passAfter(hours)]), [record]);
    return calm && countWith(calm, { ...IDENTITY, baseline, older: upTo(200), newer });
  };
  const oneMore = ({ at, belief }: StoredBelief): StoredBelief => ({
    at,
    belief: { ...belief, passes: belief.passes + 1 },
  });
  const late = countLate(1_001, unknownBelief());
  expect([late?.beliefs.values().next().value, late?.checkpoints]).toEqual([oneMore(end), []]);
  expect(countLate(991, unknownBelief())?.checkpoints).toMatchObject([
    { older: upTo(200), newer: oneMore(upTo(1_000)) },
  ]);
  // January has left.
  expect(countLate(600, upTo(620))).toBeUndefined();
  // Its checkpoint moved with the month, and the identity does not know.
  expect(countLate(600, upTo(620), BEGUN)).toBeUndefined();
  expect(countLate(700, upTo(620))).toBeDefined();
  // On the day of the failure, and before it.
  expect(countLate(301, unknownBelief())).toBeUndefined();
  expect(countLate(299, unknownBelief())).toBeUndefined();
});
