/** The tests that blocks touch, by repository and test: what to count, and from when on and on which commits to judge. */
import type { BlockLines } from '../ledger/blocks.ts';
import { addNews, conclusiveOf, type News, type TouchedTest } from './news.ts';

export type Touched = Map<string, Map<string, TouchedTest>>;

/** What was counted before is only judged again. */
export function touchedBy(blocks: readonly Pick<BlockLines, 'lines' | 'isCounted'>[]): Touched {
  const fresh: News = new Map();
  const again: News = new Map();
  for (const { lines, isCounted } of blocks) addNews(isCounted ? again : fresh, lines);
  const touched: Touched = new Map();
  touch(touched, again, false);
  touch(touched, fresh, true);
  return touched;
}

function touch(touched: Touched, news: News, isFresh: boolean): void {
  for (const [repositoryId, tests] of news) {
    const known = touched.get(repositoryId) ?? new Map<string, TouchedTest>();
    touched.set(repositoryId, known);
    for (const [testId, test] of tests) {
      const before = known.get(testId);
      let since = before?.since ?? Number.MAX_SAFE_INTEGER;
      const commits = new Set(before?.commits);
      for (const { finishedAt, commit } of conclusiveOf(test)) {
        since = Math.min(since, finishedAt);
        commits.add(commit);
      }
      // Of what is judged again, only a part is news, so the test is folded from what is stored.
      known.set(testId, {
        since,
        commits: [...commits],
        news: isFresh ? test : undefined,
        isAgain: before !== undefined,
      });
    }
  }
}
