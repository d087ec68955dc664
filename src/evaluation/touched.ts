/** The tests that a pass touches: what to count, and from when on and on which commits to judge. */
import { conclusiveOf, type News, type TestNews } from './news.ts';

/** A test to judge. */
export interface TouchedTest {
  /** The earliest change; milliseconds since the epoch, 2^53 − 1 if only skipped executions are new. */
  since: number;
  /** What to count; undefined if there is nothing that was not counted before. */
  news: TestNews | undefined;
  /** What was counted before, by an evaluation that was cut off: it is only judged again. */
  again: TestNews | undefined;
}

/** By repository and test. */
export type Touched = Map<string, Map<string, TouchedTest>>;

export function touchedBy(fresh: News, again: News): Touched {
  const touched: Touched = new Map();
  for (const repositoryId of new Set([...fresh.repositories.keys(), ...again.repositories.keys()])) {
    const tests = new Map<string, TouchedTest>();
    touched.set(repositoryId, tests);
    const counted = again.repositories.get(repositoryId);
    for (const [testId, news] of fresh.repositories.get(repositoryId) ?? []) {
      const before = counted?.get(testId);
      tests.set(testId, { since: Math.min(news.since, before?.since ?? news.since), news, again: before });
    }
    for (const [testId, before] of counted ?? [])
      if (!tests.has(testId)) tests.set(testId, { since: before.since, news: undefined, again: before });
  }
  return touched;
}

/** The commits of what is to be judged. */
export function commitsOf({ news, again }: TouchedTest): string[] {
  const commits = new Set<string>();
  for (const one of [news, again]) if (one) for (const { commit } of conclusiveOf(one)) commits.add(commit);
  return [...commits];
}
