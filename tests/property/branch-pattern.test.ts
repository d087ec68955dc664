/** Branch patterns compared with the same patterns as regular expressions, which are too slow for untrusted input. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { branchExpression, matchesBranch } from '../../src/domain/branch-pattern.ts';

function asRegExp(pattern: string): RegExp {
  const source = pattern.replace(/\*+|[\s\S]/gu, (part) => {
    if (part === '*') return '[^/]*';
    if (part.startsWith('*')) return '[\\s\\S]*';
    return part === '?' ? '[^/]' : part.replace(/[\\^$.|+()[\]{}/]/g, '\\$&');
  });
  return new RegExp(`^(?:${source})$`, 'u');
}

const text = (characters: string[], maxLength: number) =>
  fc.array(fc.constantFrom(...characters), { maxLength }).map((parts) => parts.join(''));
const branch = text(['a', 'b', '/', '.', '-', '😀', 'é'], 12);
const pattern = text(['a', 'b', '/', '.', '-', '😀', '*', '**', '?'], 10);

describe('branch patterns', () => {
  test('match what the same regular expression matches', () => {
    fc.assert(
      fc.property(pattern, branch, (p, b) => {
        expect(matchesBranch(p, b)).toBe(p === b || asRegExp(p).test(b));
      }),
      { numRuns: 3_000 },
    );
  });

  test('say the same as their expressions, whatever characters are in them', () => {
    const odd = ['a', '/', '.', '+', '(', ')', '[', ']', '{', '}', '^', '$', '|', '\\\\', '-', '😀', '\\n'];
    fc.assert(
      fc.property(text([...odd, '*', '**', '?'], 8), text(odd, 8), (p, b) => {
        expect(new RegExp(branchExpression(p), 'u').test(b)).toBe(matchesBranch(p, b));
      }),
      { numRuns: 3_000 },
    );
  });

  test('a name without wildcards matches only that branch', () => {
    fc.assert(fc.property(branch, branch, (name, other) => matchesBranch(name, other) === (name === other)));
  });

  test.each([
    ['release/*', 'release/1.0', true],
    ['release/*', 'release/1.0/hotfix', false],
    ['release/**', 'release/1.0/hotfix', true],
    ['**/hotfix', 'release/1.0/hotfix', true],
    ['v?.x', 'v1.x', true],
    ['v?.x', 'v/.x', false],
    ['*', 'main', true],
    ['*', 'feature/a', false],
    ['**', 'feature/a', true],
    ['main', 'main2', false],
    ['Main', 'main', false],
    ['[m]ain', 'main', false],
    ['?', '😀', true],
  ])('%s of %s: %p', (p, b, is) => {
    expect(matchesBranch(p, b)).toBe(is);
  });

  test('a pattern built to be slow is fast', () => {
    const nasty = '*a'.repeat(127);
    expect(matchesBranch(nasty, 'a'.repeat(254))).toBe(true);
    expect(matchesBranch(`${nasty}b`, 'a'.repeat(255))).toBe(false);
  });
});
