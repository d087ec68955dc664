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
});

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

  test('names a hostile test in one argument, for every runner', () => {
    fc.assert(
      fc.property(
        hostile,
        fc.constantFrom('jest', 'vitest', 'rspec', 'go test', 'pytest', 'phpunit'),
        (own, runner) => {
          const command = reproduceCommand(known(runner, `pkg.test_a.${own}`, own, 'test/a.test.ts'));
          if (command === null) return;
          const words = wordsOf(command);
          expect(words.join(' ').length).toBeGreaterThan(0);
          if (runner === 'rspec') expect(words.at(-1)).toBe(`--example=${own}`);
          if (runner === 'jest')
            expect(new RegExp(words.at(-1)?.replace('--testNamePattern=', '') ?? '').test(own)).toBe(true);
        },
      ),
      { numRuns: 200 },
    );
  });
});
