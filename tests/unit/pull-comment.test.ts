/** What the comment on a pull request says. */
import { expect, test } from 'bun:test';
import { type CommentedFailure, commentText } from '../../src/domain/pull-comment.ts';

const PAGE = 'https://ci.example/app/acme/shop';
const COMMIT = '1111111111111111111111111111111111111111';
const commit = { commit: COMMIT, url: `${PAGE}/commits/${COMMIT}`, fewerTests: 0 };
const failure = (testName: string, change: Partial<CommentedFailure> = {}): CommentedFailure => ({
  testName,
  jobName: 'unit',
  verdict: 'new',
  claim: {
    verdict: 'change',
    probability: 0.97,
    for: ['It failed in all of 3 runs of this commit.'],
    against: ['It was healthy on main: that it is flaky there has a probability of 2%.'],
    needs: null,
  },
  owners: ['@acme/cart'],
  message: 'AssertionError: expected 110.00, got 110.01',
  cause: null,
  url: `${PAGE}/tests/1`,
  ...change,
});
const flaky = failure('shop.pays', {
  verdict: 'known_flaky',
  claim: { verdict: 'flaky', probability: 0.001, for: [], against: ['It was flaky on main.'], needs: null },
  cause: { id: 'c1', url: `${PAGE}/causes/c1` },
  owners: [],
});

test('the sentence comes first, then each cause with its tests, what speaks for and against it, and what to do', () => {
  const failures = [failure('shop.adds tax'), failure('shop.adds tip'), flaky];
  const summary = 'Probably your change: 3 failures, 2 new, 1 known to be flaky; the gate fails.';
  expect(commentText({ ...commit, summary, failures, total: 3 }).split('\n')).toEqual([
    `### ${summary}`,
    '',
    `Commit [\`111111111111\`](${PAGE}/commits/${COMMIT}).`,
    '',
    '**The change** (97% that the change caused it), new: `AssertionError: expected 110.00, got 110.01`',
    '',
    `- [\`shop.adds tax\`](${PAGE}/tests/1) in \`unit\``,
    `- [\`shop.adds tip\`](${PAGE}/tests/1) in \`unit\``,
    '- *For*: It failed in all of 3 runs of this commit.',
    '- *Against*: It was healthy on main: that it is flaky there has a probability of 2%.',
    '- *Owned by* `@acme/cart`',
    '- *What to do*: fix it in this pull request.',
    '',
    `**Not the change, flaky** (less than 1% that the change caused it), known to be flaky: \`AssertionError: expected 110.00, got 110.01\` ([cause](${PAGE}/causes/c1))`,
    '',
    `- [\`shop.pays\`](${PAGE}/tests/1) in \`unit\``,
    '- *Against*: It was flaky on main.',
    '- *What to do*: run the CI job again. If it stands in the way, quarantine it.',
  ]);
});

test('what would decide is said where there is not enough to say, and nothing is asked for a quarantined failure', () => {
  const needs = 'Not enough to say: 3 reruns of unit (CI) would decide if all fail.';
  const unknown = failure('a', { claim: { verdict: 'unknown', probability: 0.5, for: [], against: [], needs } });
  const failures = [unknown, { ...unknown, verdict: 'quarantined' as const }];
  const text = commentText({ ...commit, summary: 'x', failures, total: 2 });
  expect(Bun.markdown.html(text)).toContain('What to do</em>: Not enough to say: 3 reruns of unit (CI)');
  expect(text).toContain('*What to do*: nothing, the quarantine excuses it.');
});

test('when nothing fails any more, it says so, and that less ran than usual', () => {
  const text = commentText({ ...commit, summary: 'Nothing failed.', failures: [], total: 0, fewerTests: 1 });
  expect(text).toStartWith('### All clear: nothing has failed so far\n');
  expect(text).toEndWith('1 CI job ran far fewer tests than usual, so this may not be all.');
});
