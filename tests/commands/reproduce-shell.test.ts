/** Commands that run a test alone: a shell gives the runner exactly the arguments that the rule names. */
import { describe, expect, test } from 'bun:test';
import { spawnSync } from 'node:child_process';
import fc from 'fast-check';
import { reproduceCommand } from '../../src/domain/reproduce-command.ts';
import { shellCommand } from '../../src/domain/shell-words.ts';

/** The words that a shell reads from a command line. */
function wordsOf(command: string): string[] {
  const script = `print() { for word do printf '%s\\0' "$word"; done; }\nprint ${command}`;
  const { status, stdout, stderr } = spawnSync('sh', ['-c', script], { encoding: 'utf8', env: { HOME: '/home' } });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return stdout.split('\0').slice(0, -1);
}

const hostile = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.string({ unit: fc.constantFrom(...'\'"`$\\;&|<>(){}[]*?!#~= \ta-') }),
  fc.constantFrom('$(id)', '`id`', '~', '~root', '-rf', '', "'; id #", '{a,b}', '\\', '!!', 'A=1', '\u001b[201~'),
);

const known = (framework: string, name: string, own: string, filepath = '') => ({
  framework,
  name,
  function: own,
  filepath,
  language: 'javascript',
});

/** A name, an own name and a file with a hostile part, which stands where the @ is. */
const SHAPES: readonly [runner: string, name: string, own: string, file: string][] = [
  ['bun', 'a.@', '@', 'a.test.ts'],
  ['catch2', 'cart.global.@', '@', ''],
  ['cucumber', 'Cart.@', '@', 'features/a.feature'],
  ['go test', 'example.com/a.Test/@', 'Test/@', ''],
  ['go test', '@.TestA', 'TestA', ''],
  ['jest', 'a.@', '@', 'a.test.ts'],
  ['jest', 'a.b', 'b', '@'],
  ['mocha', '@.@', '@', '@'],
  ['nextest', '@.@', '@', ''],
  ['phpunit', '@.testA', 'testA', ''],
  ['playwright', 'a.spec.ts › @', '@', ''],
  ['playwright', '[@] › a.spec.ts › b', 'b', ''],
  ['pytest', 'pkg.test_a.@', '@', ''],
  ['pytest', '@.py::test_a', 'test_a', ''],
  ['robot', 'S.@', '@', ''],
  ['rspec', 'spec.@', '@', '@'],
  ['surefire', '@.@', '@', ''],
  ['vitest', '@.@', '@', '@'],
];
const PROGRAMS = ['bundle', 'bun', 'cargo', 'go', 'mvn', 'npx', 'pytest', 'robot', 'vendor/bin/phpunit', './cart'];
/** Runners that take nearly any name. */
const ANY_NAME = [
  'bun',
  'catch2',
  'cucumber',
  'go test',
  'jest',
  'mocha',
  'playwright',
  'pytest',
  'robot',
  'rspec',
  'vitest',
];
/** Those that the rule writes. */
const OPTION =
  /^(?:-E$|-count=1$|-run=|-Dtest=|-Dit\.test=|--(?:runTestsByPath$|(?:testNamePattern|test-name-pattern|grep|project|filter|example|name|test)=))/;

describe('a command for a shell', () => {
  test('gives the program exactly its arguments, whatever is in them', () => {
    fc.assert(
      fc.property(fc.array(hostile, { maxLength: 4 }), (words) => {
        const command = shellCommand(['printer', ...words]);
        if (command !== null) expect(wordsOf(command)).toEqual(['printer', ...words]);
      }),
      { numRuns: 300 },
    );
  });

  test('is not made of what a terminal obeys', () => {
    for (const word of ['a\nb', '\u001b[201~', 'a\rb', '\u202e', 'a\0b', '\ud800'])
      expect(shellCommand([word])).toBeNull();
  });

  test('names a hostile test in its arguments, and runs nothing of it, for every runner', () => {
    const made = new Set<string>();
    fc.assert(
      fc.property(hostile, fc.constantFrom(...SHAPES), (text, [runner, name, own, file]) => {
        const told = (part: string) => part.replace('@', () => text);
        const command = reproduceCommand(known(runner, told(name), told(own), told(file)));
        if (command === null) return;
        made.add(runner);
        const [program = '', ...words] = wordsOf(command);
        expect(PROGRAMS).toContain(program);
        // No name becomes an option.
        for (const word of words) expect(word.startsWith('-') && !OPTION.test(word) ? word : '').toBe('');
        if (runner === 'rspec') expect(words.at(-1)).toBe(`--example=${told(own)}`);
        if (runner === 'jest')
          expect(new RegExp(words.at(-1)?.replace('--testNamePattern=', '') ?? '').test(told(own))).toBe(true);
      }),
      { numRuns: 400 },
    );
    expect([...made]).toEqual(expect.arrayContaining(ANY_NAME));
  });
});
