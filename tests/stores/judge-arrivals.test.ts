/** Arrivals judged one after another (src/evaluation/judge-arrivals.ts), with their runs in PostgreSQL. */
import { expect, test } from 'bun:test';
import { randomUUID } from 'node:crypto';
import { comparePositions } from '../../src/domain/execution.ts';
import { emptySummary, executionsOf } from '../../src/domain/test-state.ts';
import { dayOf, HOUR_MS } from '../../src/domain/time.ts';
import type { KnownBelief, Starts } from '../../src/evaluation/course-starts.ts';
import { type Arrival, judgeArrivals } from '../../src/evaluation/judge-arrivals.ts';
import { RecentCourses, type StoredEnd } from '../../src/evaluation/recent-courses.ts';
import { type IdentifiedExecution, type Identity, identityKey } from '../../src/evaluation/store.ts';
import { unknownBelief, writeBelief } from '../../src/postgres/belief-text.ts';
import { type AddedRun, addToRuns, nameOfRun, readRuns } from '../../src/postgres/judged-runs.ts';
import { randomFrom } from '../support/random.ts';
import { openTestStores } from '../support/stores.ts';

const { db } = (await openTestStores()).postgres;
const BEGUN = Date.UTC(2026, 0, 5);
const TESTS = Array.from({ length: 25 }, () => randomUUID()).sort();

/** Overlapping runs of two CI jobs, in some of which much fails. */
function history(random: () => number): IdentifiedExecution[] {
  return Array.from({ length: 30 }, (_, run) => {
    const isTroubled = random() < 0.1;
    const begun = BEGUN + run * HOUR_MS;
    return TESTS.map((testId, i): IdentifiedExecution => {
      const isFailed = random() < (isTroubled ? 0.3 : i < 3 ? 0.2 : 0);
      return {
        ...{ testId, pipelineName: 'CI', jobName: `job ${run % 2}`, runId: `r${run}`, runAttempt: 1 },
        executionId: BigInt(run * 100 + i),
        status: isFailed && random() < 0.8 ? 'failed' : 'passed',
        finishedAt: begun + Math.floor(random() * 2 * HOUR_MS),
        commit: `c${run >> 2}`,
        isFlakyWithinRun: isFailed,
        isRetried: isFailed,
      };
    });
  }).flat();
}

/** What an evaluation keeps of identities, in memory. */
class Kept {
  readonly repositoryId = randomUUID();
  /** Of how many tests the history was read. */
  histories = 0;
  readonly #arrived: IdentifiedExecution[] = [];
  readonly #known = new Map<string, KnownBelief & { stored: StoredEnd }>();
  readonly #recent: RecentCourses;

  /** @param remembers whether it knows what it has judged before */
  constructor(private readonly remembers: boolean) {
    this.#recent = new RecentCourses();
  }

  async take(arrived: readonly IdentifiedExecution[]): Promise<void> {
    this.#arrived.push(...arrived);
    const identities = new Map(
      [...Map.groupBy(arrived, identityKey)].map(([key, executions]): [string, Arrival] => {
        const [first] = executions as [IdentifiedExecution];
        return [key, { ...first, end: this.#known.get(key)?.stored.belief, executions }];
      }),
    );
    const stores = {
      tx: db,
      repositoryId: this.repositoryId,
      executions: {
        historyOf: async (named: readonly Identity[], since: number) => {
          this.histories += named.length;
          const keys = new Set(named.map(identityKey));
          return this.#arrived.filter((one) => keys.has(identityKey(one)) && one.finishedAt >= since);
        },
        newestHistory: async (named: readonly Identity[], sinceOf: (testId: string) => number, beforeMs: number) => {
          this.histories += named.length;
          const keys = new Set(named.map(identityKey));
          return [...Map.groupBy(this.#arrived, identityKey)].flatMap(([key, of]) => {
            const from = keys.has(key) ? sinceOf(of[0]?.testId ?? '') : Number.POSITIVE_INFINITY;
            const before = of.filter(({ finishedAt }) => finishedAt < from && finishedAt >= from - beforeMs);
            const newest = before.sort(comparePositions).slice(-4);
            return from === Number.POSITIVE_INFINITY ? [] : [...newest, ...of.filter((one) => one.finishedAt >= from)];
          });
        },
      },
      recent: this.remembers ? this.#recent : new RecentCourses(),
      // Everything in ClickHouse is counted.
      readUncounted: async () => new Set<bigint>(),
      readBeliefs: async (testIds: readonly string[]) =>
        new Map([...this.#known].filter(([, { testId }]) => testIds.includes(testId))),
    };
    const runs = await addToRuns(db, this.repositoryId, runsOf(arrived));
    const againSince = Number.POSITIVE_INFINITY;
    const pulls = { moved: new Map(), runs: [], againSince };
    const judged = await judgeArrivals(stores, { identities, runs, pulls, againSince });
    for (const [key, { course, restart, recent, executions, testId, pipelineName, jobName }] of judged) {
      const known = this.#known.get(key);
      const starts: Starts = restart ?? [
        known?.starts[0] ?? unknownBelief(),
        ...(known?.starts.slice(1) ?? []),
        ...(known ? [known.stored.belief] : []),
      ];
      const counted =
        (identities.get(key)?.executions.length ?? 0) + executionsOf(known?.stored.summary ?? emptySummary);
      const stored = {
        belief: { at: course.at, belief: course.belief },
        summary: { ...emptySummary, months: [202601, counted] },
      };
      const judgedCourse = { isContinued: restart === undefined, added: executions, recent };
      this.#recent.judged(this.repositoryId, key, judgedCourse, { before: known?.stored, after: stored });
      this.#known.set(key, { testId, pipelineName, jobName, stored, starts });
    }
  }

  async state() {
    const beliefs = [...this.#known].map(([key, { stored }]) => [key, writeBelief(stored.belief)]).sort();
    const runs = (await readRuns(db, this.repositoryId, 0)).map((run) => ({
      ...run,
      unexpected: [...run.unexpected].sort(),
      expected: [...run.expected].sort(),
    }));
    return { beliefs, runs: runs.sort((one, other) => (one.runId < other.runId ? -1 : 1)) };
  }
}

function runsOf(executions: readonly IdentifiedExecution[]): AddedRun[] {
  const places = executions.map(({ pipelineName, jobName, runId, runAttempt, finishedAt }) => ({
    finishedAt,
    run: { pipelineName, jobName, runId, runAttempt, day: dayOf(finishedAt), commit: '' },
  }));
  return [...Map.groupBy(places, ({ run }) => nameOfRun(run)).values()].map((of) => ({
    ...(of[0] as (typeof of)[0]).run,
    startedAt: Math.min(...of.map(({ finishedAt }) => finishedAt)),
    executions: of.length,
  }));
}

test('runs and beliefs are the same in whatever order executions arrive', async () => {
  let plain = 0;
  for (const seed of [1, 2]) {
    const random = randomFrom(seed);
    const all = history(random);
    const whole = new Kept(false);
    await whole.take(all);
    const expected = await whole.state();
    expect(expected.runs.filter(({ meaning }) => meaning !== null).length).toBeGreaterThan(4);
    const arriving = all
      .map((execution) => ({ execution, at: execution.finishedAt + random() * 6 * HOUR_MS }))
      .sort((one, other) => one.at - other.at);
    for (const remembers of [false, true]) {
      const parts = new Kept(remembers);
      for (let from = 0; from < arriving.length; from += 60)
        await parts.take(arriving.slice(from, from + 60).map(({ execution }) => execution));
      expect(await parts.state()).toEqual(expected);
      // Else the second says nothing that the first did not.
      if (remembers) expect(parts.histories).toBeLessThan(plain / 2);
      else plain = parts.histories;
    }
  }
});
