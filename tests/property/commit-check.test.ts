/** The check of a commit, and its annotations: it passes for what the gate excuses alone, and told text stays text. */
import { afterAll, expect, test } from 'bun:test';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import type { JudgedTest } from '../../src/client/gate/result.ts';
import { ANNOTATIONS_OF_JOB_MAX, annotationsOf } from '../../src/client/pull-request/annotations.ts';
import { CHECK_TITLE_MAX, checkOf } from '../../src/domain/commit-check.ts';
import { COMMIT_VERDICTS, type CommitVerdict } from '../../src/domain/commit-verdict.ts';
import { type CommentedFailure, commentText } from '../../src/domain/pull-comment.ts';
import { makeFolder } from '../support/folder.ts';

const verdict = fc.constantFrom(...COMMIT_VERDICTS);
const failureOf = (of: CommitVerdict): CommentedFailure => ({
  testName: 'adds',
  jobName: 'unit',
  verdict: of,
  claim: { verdict: 'unknown', probability: 0.5, for: [], against: [], needs: null },
  owners: [],
  message: null,
  cause: null,
  url: 'https://ci.example/tests/1',
});
const foreign = fc.string({ unit: 'binary', maxLength: 400 });
const seen = (count: number) => ({ commit: 'c', url: 'https://ci.example/c', fewerTests: 0, total: count });

test('a commit passes if each of its failures is known and excused, and never because of what was not read', () => {
  fc.assert(
    fc.property(fc.array(verdict, { maxLength: 8 }), fc.uniqueArray(verdict), fc.nat(3), (found, excused, more) => {
      const commit = { ...seen(found.length + more), summary: 'x; the gate fails.', failures: found.map(failureOf) };
      const { conclusion, title } = checkOf(commit, (one) => excused.includes(one));
      const isPassed = more === 0 && found.every((one) => excused.includes(one));
      expect(conclusion).toBe(isPassed ? 'success' : 'failure');
      if (commit.total > 0) expect(title).toEndWith(isPassed ? 'the gate passes.' : 'the gate fails.');
    }),
  );
});

test('its title is one line that hosts take, and its text that of the comment', () => {
  fc.assert(
    fc.property(foreign, (summary) => {
      const commit = { ...seen(1), summary, failures: [failureOf('new')] };
      const check = checkOf(commit, () => false);
      expect([...check.title].length).toBeLessThanOrEqual(CHECK_TITLE_MAX);
      expect(check.title).not.toMatch(/[\p{Cc}\u2028\u2029]/u);
      expect(check.summary).toBe(commentText(commit));
    }),
  );
});

test('the gate says in the title what it decided', () => {
  const summary = 'Not your change: 1 failure, known to be flaky; the gate fails, unless it excuses flaky tests.';
  const commit = { ...seen(1), summary, failures: [failureOf('known_flaky')] };
  expect(checkOf(commit, (one) => one === 'known_flaky').title).toBe(
    'Not your change: 1 failure, known to be flaky; the gate passes.',
  );
  expect(checkOf({ ...seen(0), summary: 'Nothing failed; the gate passes.', failures: [] }, () => false)).toMatchObject(
    {
      conclusion: 'success',
      title: 'All clear: nothing has failed so far',
    },
  );
});

const root = makeFolder('annotations-');
afterAll(() => rmSync(root, { recursive: true, force: true }));
const cwd = join(root, 'packages/cart');
mkdirSync(join(cwd, 'src'), { recursive: true });
writeFileSync(join(cwd, 'src/cart.test.ts'), '');
writeFileSync(join(root, 'top.test.ts'), '');
const judged = (change: Partial<JudgedTest>): JudgedTest => ({
  name: 'adds',
  verdict: 'new',
  isExcused: false,
  because: null,
  where: null,
  owners: [],
  exceptionType: null,
  exceptionMessage: null,
  sourcePath: null,
  line: null,
  attachments: [],
  historyUrl: null,
  ...change,
});

test('a file is named from the root of the repository, however its runner spells it, and no other file is', () => {
  const pathOf = (sourcePath: string | null) =>
    annotationsOf([judged({ sourcePath })], { root, cwd }).map(({ path }) => path);
  const cart = ['packages/cart/src/cart.test.ts'];
  expect(pathOf('src/cart.test.ts')).toEqual(cart);
  expect(pathOf('packages/cart/src/cart.test.ts')).toEqual(cart);
  expect(pathOf(join(cwd, 'src/cart.test.ts'))).toEqual(cart);
  expect(pathOf('../../top.test.ts')).toEqual(['top.test.ts']);
  for (const outside of [null, '', '.', '../../../etc/passwd', '/etc/passwd', 'com.acme.CartTest', 'a\0b'])
    expect(pathOf(outside)).toEqual([]);
});

test('annotations are plain lines within bounds, and as many as are read', () => {
  fc.assert(
    fc.property(foreign, foreign, fc.integer({ min: 1, max: 300 }), (name, exceptionMessage, count) => {
      const test = judged({ name, exceptionMessage, sourcePath: 'src/cart.test.ts', line: 7, isExcused: true });
      const found = annotationsOf(
        Array.from({ length: count }, () => test),
        { root, cwd },
      );
      expect(found).toHaveLength(Math.min(count, ANNOTATIONS_OF_JOB_MAX));
      expect(found[0]).toMatchObject({ line: 7, level: 'warning' });
      expect(found[0]?.message.length).toBeLessThan(10_000);
      expect(found[0]?.message).not.toMatch(/(?!\n)[\p{Cc}\u2028\u2029]/u);
    }),
  );
});
