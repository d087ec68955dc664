/** Whatever a test, a path or the service says: in a log, a summary or an annotation it is text. */
import { describe, expect, test } from 'bun:test';
import {
  inGithubMessage,
  inGithubProperty,
  inLog,
  inMarkdown,
  jsonInLog,
  linesInLog,
} from '../../src/domain/foreign-text.ts';

/** Commands of runners, in one line of a log. */
const COMMANDS: [who: string, command: RegExp][] = [
  ['GitHub and its `::command::`', /^\s*::/],
  ['GitHub and Azure with `##[`', /##\[/],
  ['Azure', /##vso\[/],
  ['TeamCity', /##teamcity\[/],
  ['Buildkite', /^\s*(?:---|\+\+\+|~~~|\^\^\^)/],
  ['GitLab', /section_(?:start|end):/],
  ['Travis', /travis_(?:fold|time):/],
  ['a terminal', /\p{Cc}/u],
  ['an eye', /(?![\ufe0e\ufe0f])[\p{Cf}\p{Default_Ignorable_Code_Point}\u2028\u2029]/u],
];
const expectHarmless = (line: string): void => {
  for (const [who, command] of COMMANDS) expect([who, line, command.test(line)]).toEqual([who, line, false]);
};

const HOSTILE = [
  '::error file=a::b',
  ' \t\u00a0\u3000::stop-commands::x',
  'a\n::warning::b',
  'a\r::warning::b',
  'a\u2028::warning::b',
  'a\u0085::warning::b',
  '##[group]x',
  '###[error]x',
  'x ##vso[task.setvariable variable=a]b',
  "y ##teamcity[buildStatus text='ok']",
  '--- a group',
  '+++ an open group',
  '~~~ a quiet group',
  '^^^ +++',
  '  ^^^ +++',
  'section_start:1:x\r\u001b[0Kx',
  'xsection_end:1:x',
  'travis_fold:start:x',
  '\u001b[2J\u009b2J',
  '\u202egnp.exe',
  'a\u200bb\u2060c\ufeffd\u00ade\u061cf',
  'a\u{e0041}b\u3164c\u034fd',
  '\ud800 half',
];

describe('a line of a log', () => {
  test.each(HOSTILE)('starts no command: %p', (text) => {
    expectHarmless(inLog(text));
    expect(inLog(text)).not.toMatch(/[\n\r]/);
    expect(inLog(inLog(text))).toBe(inLog(text));
  });

  test('starts none either after blanks of ours, nor in a table of several lines', () => {
    for (const text of HOSTILE) {
      expectHarmless(`        ${inLog(text)}`);
      for (const line of linesInLog(`${text}\n${text}`).split('\n')) expectHarmless(line);
    }
  });

  test('stays as it is if there is nothing in it, with its letters of any language and its emoji', () => {
    for (const text of ['', 'adds tax', 'std::vector # 1', 'a -- b', 'עברית', '日本語', '❤️ 🧪', 'x: y', '  indented'])
      expect(inLog(text)).toBe(text);
  });

  test('costs time in proportion to its length, whatever it is made of', () => {
    for (const part of [
      ' ',
      '\n',
      '\t \n',
      ':',
      '#',
      '-',
      '##',
      '::',
      'section_',
      '\u200b',
      '\u001b',
      '@',
      'www.',
      '`',
    ]) {
      const cost = (length: number): number => {
        const text = part.repeat(length / part.length);
        const startedAt = process.cpuUsage();
        inLog(text);
        inMarkdown(text);
        jsonInLog(text);
        const { user, system } = process.cpuUsage(startedAt);
        return user + system;
      };
      cost(20_000);
      const [short, long] = [cost(20_000), cost(400_000)];
      // In proportion it is 20 times as much, by its square 400 times.
      expect([part, long / Math.max(short, 3_000) < 100]).toEqual([part, true]);
    }
  });
});

describe('JSON in a log', () => {
  test('holds no command, and is the same value when it is read', () => {
    const value = { texts: HOSTILE, [HOSTILE[8] ?? '']: null };
    const json = jsonInLog(value);
    for (const line of json.split('\n')) expectHarmless(line);
    expect(JSON.parse(json)).toEqual(JSON.parse(JSON.stringify(value)));
  });
});

describe('Markdown', () => {
  const html = (text: string): string =>
    Bun.markdown.html(`| a |\n|---|\n| ${inMarkdown(text)} |\n\n> ${inMarkdown(text)}\n`, { autolinks: true });

  test.each([
    ...HOSTILE,
    'https://evil.example/x',
    'see www.evil.example',
    'WWW.evil.example',
    'ftp://evil.example',
    'me@evil.example',
    '@all @acme/team',
    '#1 acme/shop#2',
    '[a](javascript:1)',
    '![a](https://evil.example/a.png)',
    '<img src=x onerror=1>',
    '&lt;b&gt; &#64;',
    'a | b \\| c \\\\| d',
    '`code` ``x` **b** ~~s~~ _i_ $x$',
    '# a',
    '- a',
    '1. a',
    '1) a',
    '    a',
    '> a',
    '---',
    '|---|',
  ])('shows text as text: %p', (text) => {
    const page = html(text);
    expect(page).not.toMatch(/<(?:a|img|b|strong|em|code|del|s|i|li|hr|h[1-6]|script|input)\b/);
    expect(page.match(/<td>/g)).toHaveLength(1);
    // A page looks for mentions and references between two elements.
    expect(page).not.toMatch(/@\w|#\d/);
  });
});

test('a command to GitHub ends where it should, and its parts start none in the log that it becomes', () => {
  const command = `::error title=${inGithubProperty('a,b:c\n::x::%0A')}::${inGithubMessage(HOSTILE)}`;
  expect(command).not.toContain('\n');
  expect(command).toStartWith('::error title=a%2Cb%3Ac %3A%3Ax%3A%3A%250A::');
  for (const line of inGithubMessage(HOSTILE).replaceAll('%0A', '\n').split('\n')) expectHarmless(line);
});
