/** What an evaluation changes of tests: their new states, from what was known of them and what is new. Pure. */
import { shownHealth } from '../domain/belief-course.ts';
import { firstOfMonths } from '../domain/first-executions.ts';
import { emptySummary, executionsOf, mergeSummaries, RATIO_DAYS } from '../domain/test-state.ts';
import { dayOf } from '../domain/time.ts';
import { type StoredBelief, unknownBelief } from '../postgres/belief-text.ts';
import type { LastDay } from '../postgres/test-state-writes.ts';
import type { FirstFailure, IdentityRecord, TestState } from '../postgres/test-states.ts';
import { type Advance, advanceOf, keptAt } from './checkpoints.ts';
import type { JudgedIdentity } from './judge-arrivals.ts';
import { conclusiveOf, type NewsOfIdentity, placeOf, type TestNews } from './news.ts';
import type { Identity } from './store.ts';
import type { TouchedTest } from './touched.ts';

/** What is known of a test before an evaluation. */
export interface KnownTest {
  /** Undefined until it has run. */
  test: TestState | undefined;
  /** Of its identities: all, or those that have news. */
  records: readonly IdentityRecord[];
}

export const UNKNOWN: KnownTest = { test: undefined, records: [] };

/** A test that changes, with what is known of it. */
export interface TestInHand extends TouchedTest {
  known: KnownTest;
  /** What is believed of its calm identities, by `placeOf` them. */
  beliefs: ReadonlyMap<string, StoredBelief>;
  /** The identities that were judged. */
  judged: readonly JudgedIdentity[];
}

/** What changes besides the executions. */
export interface ChangeOptions {
  /** Flaky executions by UTC day, of the tests for which they changed. */
  flakyDays: ReadonlyMap<string, ReadonlyMap<number, number>>;
  isFlakyDetectionEnabled: boolean;
}

/** An identity to write, with its newer checkpoint if that changes. */
export type ChangedIdentity = IdentityRecord &
  Advance & {
    /** Retained executions, before what is new of them. */
    executionsBefore: number;
  };

/** What to write of tests. */
export interface ChangedTests {
  /** New ones, and those of which more than the last day changes. */
  states: readonly TestState[];
  /** Those that only have run on another day: once a day, that is nearly every test. */
  days: readonly LastDay[];
}

/** New tests, and those whose first executions, first failure, last or flaky days changed. */
export function changedTests(
  tests: ReadonlyMap<string, TestInHand>,
  { flakyDays }: Pick<ChangeOptions, 'flakyDays'>,
): ChangedTests {
  const states: TestState[] = [];
  const moved: LastDay[] = [];
  for (const [testId, { news, known }] of tests) {
    const before = known.test;
    // Only the first failure of a test may be left of it: then its name is empty until it runs again.
    const name = before?.name || news?.name;
    if (name === undefined) continue;
    const firstFailure = earliest(before?.firstFailure ?? null, news);
    const firstExecutions = firstOfMonths(before?.firstExecutions ?? NONE, news ? timesOf(news) : NONE);
    const lastDay = laterDay(before?.lastDay ?? null, news);
    const days = flakyDays.get(testId);
    const isFirst = firstExecutions !== before?.firstExecutions || firstFailure !== before.firstFailure;
    if (!before?.name || isFirst || days) {
      const flaky = days ? [...days].sort(([one], [other]) => one - other) : (before?.flakyDays ?? []);
      states.push({ testId, name, firstFailure, flakyDays: flaky.slice(-RATIO_DAYS), firstExecutions, lastDay });
    } else if (lastDay !== null && lastDay !== before.lastDay) {
      moved.push({ testId, lastDay });
    }
  }
  return { states, days: moved };
}

const NONE: readonly number[] = [];

const laterDay = (known: number | null, news: TestNews | undefined): number | null =>
  news && news.until > 0 ? Math.max(dayOf(news.until), known ?? 0) : known;

/** When the new executions finished. */
function timesOf({ identities }: TestNews): number[] {
  const times: number[] = [];
  for (const identity of identities) identity.addTimes(times);
  return times;
}

function earliest(known: FirstFailure | null, news: TestNews | undefined): FirstFailure | null {
  let first = known;
  for (const { status, finishedAt: failedAt, executionId, commit } of news?.hasTrouble ? conclusiveOf(news) : [])
    if (status === 'failed' && isEarlier({ failedAt, executionId }, first)) first = { failedAt, executionId, commit };
  return first;
}

const isEarlier = (one: Omit<FirstFailure, 'commit'>, first: FirstFailure | null): boolean =>
  first === null ||
  one.failedAt < first.failedAt ||
  (one.failedAt === first.failedAt && one.executionId < first.executionId);

/** Identities with new executions, and those that were judged. */
export function changedIdentities(
  testId: string,
  { news, known, beliefs, judged }: TestInHand,
  { isFlakyDetectionEnabled }: Pick<ChangeOptions, 'isFlakyDetectionEnabled'>,
): ChangedIdentity[] {
  const records = new Map<string, IdentityRecord>();
  for (const record of known.records) records.set(placeOf(record), record);
  const judgedAt = new Map<string, JudgedIdentity>();
  for (const one of judged) judgedAt.set(placeOf(one), one);
  const added = new Map<string, NewsOfIdentity>();
  for (const identity of news?.identities ?? []) added.set(placeOf(identity), identity);
  const changed: ChangedIdentity[] = [];
  const change = (place: string, { pipelineName, jobName }: Omit<Identity, 'testId'>): void => {
    const record = records.get(place);
    const one = judgedAt.get(place);
    const end = one ? one.course : beliefs.get(place);
    const belief = end ? { at: end.at, belief: end.belief } : (record?.belief ?? unknownBelief());
    const summary = added.get(place)?.summary() ?? emptySummary;
    changed.push({
      testId,
      pipelineName,
      jobName,
      belief,
      health: shownHealth(belief.belief.status, isFlakyDetectionEnabled),
      summary: record ? mergeSummaries(record.summary, summary) : summary,
      executionsBefore: record ? executionsOf(record.summary) : 0,
      ...(one?.restart ? keptAt(one.restart) : advanceOf(record, belief)),
    });
  };
  for (const [place, one] of judgedAt) change(place, one);
  for (const [place, identity] of added) if (!judgedAt.has(place)) change(place, identity);
  return changed;
}
