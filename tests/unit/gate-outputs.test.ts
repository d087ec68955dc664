/** Where people look at the result of `gate`: names of tests come from anyone, and are shown as text. */
import { expect, test } from 'bun:test';
import type { GateResult, JudgedTest } from '../../src/client/gate/result.ts';
import { githubCommands } from '../../src/client/outputs/github.ts';
import { annotationsOf, inSection } from '../../src/client/outputs/gitlab.ts';
import { markdownOf } from '../../src/client/outputs/markdown.ts';
import { COLOURS, NO_COLOURS, plainLines } from '../../src/client/outputs/plain.ts';
import { jsonOf } from '../../src/client/outputs/publish.ts';

const failure = (change: Partial<JudgedTest> = {}): JudgedTest => ({
  name: 'cart.Totals.adds tax',
  verdict: 'new',
  isExcused: false,
  because: 'it never failed like this on the default branch',
  where: 'fails only with os=windows',
  owners: [],
  exceptionType: 'AssertionError',
  exceptionMessage: 'expected 110.00, got 110.01',
  sourcePath: 'tests/cart.py',
  line: 7,
  attachments: [],
  historyUrl: 'https://ci.acme.example/v1/ci/acme/repositories/shop/tests/1',
  ...change,
});
const quarantined = failure({ name: 'cart.sums', verdict: 'quarantined', isExcused: true, because: null, where: null });
const resultOf = (failures: JudgedTest[], change: Partial<GateResult> = {}): GateResult => ({
  decision: { code: 1, reason: 'failed' },
  tests: 211,
  summary: 'Probably your change: 2 failures, 1 new, 1 quarantined; the gate fails.',
  failures,
  troubles: [],
  notices: [],
  uploads: [],
  ...change,
});

test('links of a failure are shown, and nothing in them ends the link or the cell', () => {
  const url = 'https://files.example/a)|(b.png';
  const result = resultOf([failure({ attachments: [{ kind: 'screenshot', name: 'cart](x', url }] })]);
  expect(plainLines(result, NO_COLOURS).join('\n')).toContain(`screenshot: cart](x ${url}`);
  const row = markdownOf(result)
    .split('\n')
    .find((line) => line.includes('files.example'));
  expect(row).toContain('](https://files.example/a%29%7c%28b.png) |');
  expect(row).not.toContain('cart](');
});

test('the owners of a failed test stand beside it, and no name of an owner commands anything', () => {
  const result = resultOf([failure({ owners: ['@acme/cart', '::error::|x'] })]);
  expect(plainLines(result, NO_COLOURS).join('\n')).toContain('owned by @acme/cart, ');
  expect(githubCommands(result)).toHaveLength(1);
  expect(githubCommands(result)[0]).toContain('owned by @acme/cart');
  const row = markdownOf(result)
    .split('\n')
    .find((line) => line.includes('owned by'));
  expect(row?.match(/(?<!\\)\|/g)).toHaveLength(4);
});

test('the log has a line for each failed test, its exception, why, and where its history is', () => {
  expect(plainLines(resultOf([failure(), quarantined]), NO_COLOURS)).toEqual([
    '  new             cart.Totals.adds tax',
    '                  AssertionError: expected 110.00, got 110.01',
    '                  it never failed like this on the default branch',
    '                  fails only with os=windows',
    '                  https://ci.acme.example/v1/ci/acme/repositories/shop/tests/1',
    '  quarantined     cart.sums',
    '                  AssertionError: expected 110.00, got 110.01',
    '                  https://ci.acme.example/v1/ci/acme/repositories/shop/tests/1',
    '2 of 211 tests failed: 1 new, 1 quarantined.',
    'Probably your change: 2 failures, 1 new, 1 quarantined; the gate fails.',
    'The job fails: 1 failure is not excused.',
  ]);
});

test('colours are escape sequences that only a palette has', () => {
  const lines = (palette: typeof COLOURS) => plainLines(resultOf([failure()]), palette).join('\n');
  expect(lines(NO_COLOURS)).not.toContain('\u001b');
  expect(lines(COLOURS)).toContain('\u001b[31mnew');
});

const HOSTILE =
  'a\n::error::b ##vso[task.setvariable]c ##[add-mask]d | <img src=x> `e` [f](javascript:1) @all \u001b[2J%0A::warning::';

test('a name can neither give a command to the runner nor steer the terminal', () => {
  const result = resultOf([failure({ name: HOSTILE, exceptionMessage: HOSTILE })], {
    notices: [HOSTILE],
    troubles: [HOSTILE],
  });
  for (const line of plainLines(result, NO_COLOURS)) {
    expect(line).not.toMatch(/^\s*::|##|\p{Cc}/u);
    expect(line).not.toContain('\n');
  }
  const commands = githubCommands(result);
  expect(commands).toHaveLength(1);
  expect(commands[0]).toStartWith('::error file=tests/cart.py,title=Failed test%2C new::a ::error::b # #vso[');
  expect(commands[0]).toContain('%250A::warning::');
  expect(commands[0]).not.toContain('\n');
  expect(
    inSection(plainLines(result, NO_COLOURS), 1_000)
      .join('\n')
      .match(/section_(?:start|end)/g),
  ).toHaveLength(2);
});

test('in Markdown a name is text: no cell, no link, no markup, no mention', () => {
  const markdown = markdownOf(resultOf([failure({ name: HOSTILE, exceptionMessage: HOSTILE, historyUrl: null })]));
  const row = markdown.split('\n').find((line) => line.startsWith('| **new**')) ?? '';
  expect(row.match(/\|/g)).toHaveLength(4);
  expect(row).not.toMatch(/<img|`|\]\(|@|\p{Cc}/u);
});

const LONG = Array.from({ length: 8 }, (_, i) => ({
  kind: 'log' as const,
  name: '',
  url: `https://files.example/${i}${'x'.repeat(1_000)}`,
}));

test('many failures are cut to what GitHub and Buildkite take, and the rest is counted', () => {
  const many = resultOf(
    Array.from({ length: 5_000 }, (_, i) => failure({ name: `test ${i} ${'x'.repeat(2_000)}`, attachments: LONG })),
  );
  expect(githubCommands(many)).toHaveLength(10);
  expect(markdownOf(many).length).toBeLessThan(1_000_000);
  expect(markdownOf(many)).toContain('4,800 more are in the log of the job.');
});

test('JSON has as many failures as one can read, and the number of the others', () => {
  const { failures, failuresLeftOut, tests } = jsonOf(resultOf(Array.from({ length: 1_203 }, () => failure())));
  expect([failures.length, failuresLeftOut, tests]).toEqual([1_000, 203, 211]);
});

test('the links for GitLab lead to the history of each test that has one', () => {
  expect(annotationsOf(resultOf([failure(), failure({ historyUrl: null })]))).toEqual({
    'Failed tests': [
      {
        external_link: {
          label: 'new: cart.Totals.adds tax',
          url: 'https://ci.acme.example/v1/ci/acme/repositories/shop/tests/1',
        },
      },
    ],
  });
});
