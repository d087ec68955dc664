/** No output of hostile text starts a command: every output of the client, with texts put together from parts of commands. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import type { GateResult, JudgedTest } from '../../src/client/gate/result.ts';
import { formatTable } from '../../src/client/output.ts';
import { githubCommands } from '../../src/client/outputs/github.ts';
import { annotationsOf } from '../../src/client/outputs/gitlab.ts';
import { markdownOf } from '../../src/client/outputs/markdown.ts';
import { NO_COLOURS, plainLines } from '../../src/client/outputs/plain.ts';
import { summaryOf } from '../../src/client/push-summary.ts';
import { failedUpload } from '../../src/client/upload.ts';
import { inGithubMessage, inMarkdown, jsonInLog, linesInLog } from '../../src/domain/foreign-text.ts';

const PARTS = [
  ...':#-+~^ \t\n\r\v\f[]()|*_`<>@!&;.%,"\\/a1é🙂',
  ...['\u2028', '\u0085', '\u00a0', '\u3000', '\u001b[', '\u009b', '\u202e', '\u200b', '\u200d', '\u00ad', '\u3164'],
  ...[
    '::error::',
    '##vso[',
    '##[group]',
    '##teamcity[',
    '---',
    '+++ ',
    '~~~ ',
    '^^^ +++',
    'section_start:1:a\r\u001b[0K',
  ],
  ...['travis_fold:start:a', '%0A::', 'https://evil.example', 'www.evil.example', 'me@evil.example', '#12', '\ud800'],
];
const foreign = fc.array(fc.constantFrom(...PARTS), { maxLength: 12 }).map((parts) => parts.join(''));

const COMMAND =
  /^\s*(?:::|---|\+\+\+|~~~|\^\^\^)|##|section_(?:start|end):|travis_(?:fold|time):|\p{Cc}|(?!\ufe0e|\ufe0f)[\p{Cf}\p{Default_Ignorable_Code_Point}]|[\u2028\u2029]/u;
const expectHarmless = (lines: readonly string[]): void => {
  for (const line of lines) expect([line, COMMAND.test(line)]).toEqual([line, false]);
};

const judged = fc
  .record({ name: foreign, exceptionType: fc.option(foreign), exceptionMessage: fc.option(foreign), path: foreign })
  .map(
    ({ path, ...test }): JudgedTest => ({
      ...test,
      verdict: 'new',
      isExcused: false,
      because: null,
      where: null,
      owners: [test.name],
      sourcePath: path,
      line: null,
      attachments: [{ kind: 'file' as const, name: test.name, url: 'https://files.example/a' }],
      historyUrl: null,
    }),
  );
const resultOf = (failures: JudgedTest[], said: string): GateResult => ({
  decision: { code: 1, reason: 'failed' },
  tests: 9,
  failures,
  summary: null,
  troubles: [said],
  notices: [said],
  uploads: [],
});

test('neither a log, a table, a summary of uploads nor JSON', () => {
  fc.assert(
    fc.property(fc.array(judged, { maxLength: 3 }), foreign, foreign, (failures, said, other) => {
      const result = resultOf(failures, said);
      expectHarmless(plainLines(result, NO_COLOURS));
      expectHarmless(linesInLog(`${said}\n${other}`).split('\n'));
      expectHarmless(formatTable([said, other], [[other, said]]).split('\n'));
      const failed = failedUpload(said, new Error(other));
      const rejections = [{ reason: other, count: 1 }];
      expectHarmless(summaryOf([{ ...failed, rejections, warnings: [said] }]));
      expectHarmless(jsonInLog(result).split('\n'));
      expect(JSON.parse(jsonInLog(result))).toEqual(JSON.parse(JSON.stringify(result)));
    }),
  );
});

test('nor an annotation, which is one line, and harmless in the log that it becomes', () => {
  fc.assert(
    fc.property(judged, (failure) => {
      const [command = '', ...more] = githubCommands(resultOf([failure], ''));
      expect([more, /[\n\r]/.test(command)]).toEqual([[], false]);
      const [, properties = '', message = ''] = /^::error (.*?)::(.*)$/.exec(command) ?? [];
      expect(properties).toMatch(/^file=[^:,]*,title=Failed test%2C new$/);
      expectHarmless(message.replaceAll('%0A', '\n').replaceAll('%25', '%').split('\n'));
      expectHarmless(inGithubMessage([failure.name]).split('%0A'));
      expectHarmless(JSON.stringify(annotationsOf(resultOf([failure], ''))).split('\n'));
    }),
  );
});

test('nor a page of Markdown: it holds the elements of the page, and no others', () => {
  const elements = (html: string): string[] => [
    ...new Set([...html.matchAll(/<([a-z]\w*)/g)].map(([, tag = '']) => tag)),
  ];
  fc.assert(
    fc.property(fc.array(judged, { minLength: 1, maxLength: 3 }), foreign, (failures, said) => {
      const html = Bun.markdown.html(markdownOf(resultOf(failures, said)), { autolinks: true });
      const own = ['h3', 'p', 'table', 'thead', 'tr', 'th', 'tbody', 'td', 'strong', 'blockquote', 'br', 'wbr', 'a'];
      expect(elements(html).filter((tag) => !own.includes(tag))).toEqual([]);
      expect(html.match(/<td>/g)).toHaveLength(3 * failures.length);
      // Each has one attachment.
      expect(html.match(/<a /g)).toHaveLength(failures.length);
      expect(html).not.toMatch(/@\w|#\d/);
      const quoted = Bun.markdown.html(`> ${inMarkdown(said)}`, { autolinks: true });
      expect(elements(quoted).filter((tag) => !['blockquote', 'p', 'wbr'].includes(tag))).toEqual([]);
    }),
  );
});
