/** What a pass brings to each repository: what to count and judge. */
import type { AddedRun } from '../postgres/judged-runs.ts';
import type { NewPullCommit, News, TestNews } from './news.ts';

/** A test to judge. */
export interface TouchedTest {
  /** What to count; undefined if there is nothing that was not counted before. */
  news: TestNews | undefined;
  /** What was counted before, by an evaluation that was cut off: it is only judged again. */
  again: TestNews | undefined;
}

export interface TouchedRepository {
  /** By test id. */
  tests: ReadonlyMap<string, TouchedTest>;
  /** What to count. */
  runs: readonly AddedRun[];
  /** By commit: what is new off the default branch. */
  pulls: ReadonlyMap<string, TouchedPullCommit>;
}

export interface TouchedPullCommit extends NewPullCommit {
  /** Whether an evaluation that was cut off has counted some of it. */
  isAgain: boolean;
}

/** By repository. */
export type Touched = Map<string, TouchedRepository>;

export function touchedBy(fresh: News, again: News): Touched {
  const touched: Touched = new Map();
  const repositories = [fresh, again].flatMap((news) => [...news.repositories.keys(), ...news.pulls.keys()]);
  for (const repositoryId of new Set(repositories)) {
    const tests = new Map<string, TouchedTest>();
    const counted = again.repositories.get(repositoryId);
    for (const [testId, news] of fresh.repositories.get(repositoryId) ?? [])
      tests.set(testId, { news, again: counted?.get(testId) });
    for (const [testId, before] of counted ?? [])
      if (!tests.has(testId)) tests.set(testId, { news: undefined, again: before });
    const runs = [...(fresh.runs.get(repositoryId)?.values() ?? [])];
    const pulls = pullsIn(fresh.pulls.get(repositoryId), again.pulls.get(repositoryId));
    touched.set(repositoryId, { tests, runs, pulls });
  }
  return touched;
}

function pullsIn(
  fresh: ReadonlyMap<string, NewPullCommit> = new Map(),
  again: ReadonlyMap<string, NewPullCommit> = new Map(),
): Map<string, TouchedPullCommit> {
  const pulls = new Map([...fresh].map(([commit, one]) => [commit, { ...one, isAgain: false }]));
  for (const [commit, one] of again) {
    const known = pulls.get(commit);
    const failedAt = known?.failedAt === undefined ? one.failedAt : Math.max(known.failedAt, one.failedAt ?? 0);
    pulls.set(commit, { failedAt, retried: one.retried.union(known?.retried ?? new Set()), isAgain: true });
  }
  return pulls;
}
