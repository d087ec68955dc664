/** Whose a test is, however its runner spells its file. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { Codeowners } from '../../src/domain/codeowners.ts';
import { globMatcher, globToLike } from '../../src/domain/glob.ts';
import type { OwnerRule } from '../../src/domain/owner-rules.ts';
import { RepositoryFiles, reportedPath } from '../../src/domain/test-file.ts';
import { Ownership } from '../../src/domain/test-owners.ts';

const CODEOWNERS = '* @all\n/src/ @core\n/packages/web/ @web\n*.java @java\n';
const FILES = [
  'src/a.test.ts',
  'packages/web/src/a.test.ts',
  'packages/web/src/only.test.ts',
  'jvm/src/test/java/com/acme/FooTest.java',
  'py/tests/test_cart.py',
  'one/same.test.ts',
  'two/same.test.ts',
];
const ownership = (files: string[], rules: OwnerRule[] = []) =>
  new Ownership({ rules, files, codeowners: new Codeowners(CODEOWNERS, 'github') });
const ownersOf = (owned: Ownership, file: string, name = 'x'): readonly string[] =>
  owned.ownersOf({ name, file }).owners;

describe('with the list of files', () => {
  const owned = ownership(FILES);
  test.each([
    ['packages/web/src/a.test.ts', 'x', ['@web']],
    ['/home/x/repo/packages/web/src/a.test.ts', 'x', ['@web']],
    ['C:\\build\\repo\\packages\\web\\src\\only.test.ts', 'x', ['@web']],
    ['file:///app/src/only.test.ts', 'x', ['@web']],
    ['./src/only.test.ts', 'x', ['@web']],
    ['../web/src/only.test.ts', 'x', ['@web']],
    // Two files end so.
    ['src/a.test.ts', 'x', []],
    ['same.test.ts', 'x', []],
    // None does: it is taken as it is.
    ['src/unlisted.rs', 'x', ['@core']],
    ['', 'com.acme.FooTest.adds', ['@java']],
    ['', 'com.acme.FooTest$Inner.adds', ['@java']],
    ['', 'tests.test_cart.TestTotals.test_tax', ['@all']],
    ['', 'Cart > adds', []],
  ])('%s of %s has %p', (file, name, owners) => {
    expect(ownersOf(owned, file, name)).toEqual(owners);
  });

  test('the file that is found is the only one that shares the longest tail', () => {
    const name = fc.constantFrom('a', 'b', 'c');
    const path = fc.array(name, { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(
        fc.uniqueArray(
          path.map((one) => one.join('/')),
          { maxLength: 12 },
        ),
        path,
        (files, asked) => {
          const shared = (file: string): number => {
            const [one, other] = [file.split('/').reverse(), asked.toReversed()];
            const differs = one.findIndex((part, i) => part !== other[i]);
            return differs === -1 ? one.length : differs;
          };
          const longest = Math.max(0, ...files.map(shared));
          const best = files.filter((file) => longest > 0 && shared(file) === longest);
          const [only] = best;
          const expected = only === undefined ? undefined : best.length > 1 ? ('ambiguous' as const) : { path: only };
          expect(new RepositoryFiles(files).ofPath(asked)).toEqual(expected);
        },
      ),
    );
  });
});

describe('without the list of files', () => {
  const owned = ownership([]);
  test.each([
    ['src/a.test.ts', ['@core']],
    ['packages/web/src/a.test.ts', ['@web']],
    // A checkout lies in some folder: the longest tail that a pattern from the root matches.
    ['/home/runner/work/repo/packages/web/src/a.test.ts', ['@web']],
    ['/home/runner/work/repo/src/a.test.ts', ['@core']],
    ['/tmp/other.ts', ['@all']],
    ['lib/src/a.test.ts', ['@all']],
    ['', []],
  ])('%s has %p', (file, owners) => {
    expect(ownersOf(owned, file)).toEqual(owners);
  });
});

describe('rules of the settings', () => {
  const rules: OwnerRule[] = [
    { test_name: 'Cart*', owners: ['@cart'] },
    { file: '/src/', test_name: '*slow', owners: ['@perf', '@core'] },
    { test_name: 'Cart free', owners: [] },
  ];
  test.each([
    ['Cart adds', 'src/a.test.ts', ['@cart']],
    ['Cart slow', 'src/a.test.ts', ['@perf', '@core']],
    ['Cart slow', 'lib/a.test.ts', ['@cart']],
    ['Cart free', 'src/a.test.ts', []],
    ['Other', 'src/a.test.ts', ['@core']],
  ])('%s in %s has %p', (name, file, owners) => {
    expect(ownersOf(ownership([], rules), file, name)).toEqual(owners);
  });
});

test('any reported path is read', () => {
  const owned = ownership(FILES);
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (file, name) => {
      expect(reportedPath(file)?.names.includes('') ?? false).toBe(false);
      ownersOf(owned, file, name);
    }),
  );
});

describe('globs over names', () => {
  const glob = fc.array(fc.constantFrom('a', 'b', '*', '?', '\\*', '\\\\', '\n', '😀', '%'), { maxLength: 8 });
  const name = fc.array(fc.constantFrom('a', 'b', '*', '\\', '\n', '😀', '%'), { maxLength: 8 });
  test('match what the same pattern of a search matches', () => {
    fc.assert(
      fc.property(glob, name, (globParts, nameParts) => {
        const [pattern, text] = [globParts.join(''), nameParts.join('')];
        const source = globToLike(pattern).replace(/\\[\s\S]|[\s\S]/gu, (one) => {
          if (one === '%') return '[\\s\\S]*';
          if (one === '_') return '[\\s\\S]';
          return (one.length > 1 && one.startsWith('\\') ? one.slice(1) : one).replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
        });
        expect(globMatcher(pattern)(text)).toBe(text === pattern || new RegExp(`^${source}$`, 'u').test(text));
      }),
      { numRuns: 3_000 },
    );
  });
});
