/** What a pass brings to each repository: what to count and judge. */
import type { AddedRun } from '../postgres/judged-runs.ts';
import type { News, TestNews } from './news.ts';

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
}

/** By repository. */
export type Touched = Map<string, TouchedRepository>;

export function touchedBy(fresh: News, again: News): Touched {
  const touched: Touched = new Map();
  for (const repositoryId of new Set([...fresh.repositories.keys(), ...again.repositories.keys()])) {
    const tests = new Map<string, TouchedTest>();
    const counted = again.repositories.get(repositoryId);
    for (const [testId, news] of fresh.repositories.get(repositoryId) ?? [])
      tests.set(testId, { news, again: counted?.get(testId) });
    for (const [testId, before] of counted ?? [])
      if (!tests.has(testId)) tests.set(testId, { news: undefined, again: before });
    touched.set(repositoryId, { tests, runs: [...(fresh.runs.get(repositoryId)?.values() ?? [])] });
  }
  return touched;
}
