/** Whose a test is, however its runner spells its file. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { Codeowners } from '../../src/domain/codeowners.ts';
import { globMatcher, globToLike } from '../../src/domain/glob.ts';
import { type OwnersPreview, type PreviewedTest, previewOwners } from '../../src/domain/owner-preview.ts';
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

describe('a preview of other rules', () => {
  const name = fc.constantFrom('Cart adds', 'Cart slow', 'Pay', '');
  const file = fc.constantFrom('src/a.test.ts', 'packages/web/src/a.test.ts', 'lib/x.java', '');
  const tests = fc
    .array(fc.record({ name, file }), { maxLength: 12 })
    .map((all) => all.map((one, i) => ({ ...one, testId: String(i) })));
  const rule: fc.Arbitrary<OwnerRule> = fc.record(
    {
      test_name: fc.constantFrom('*', 'Cart*', '*slow', 'none'),
      file: fc.constantFrom('/src/', '*.java'),
      owners: fc.subarray(['@a', '@b']),
    },
    { requiredKeys: ['owners', 'test_name'] },
  );
  const rules = fc.array(rule, { maxLength: 4 });
  const preview = (all: PreviewedTest[], before: OwnerRule[], after: OwnerRule[]): OwnersPreview => {
    const steps = previewOwners(all, {
      before: ownership([], before),
      after: ownership([], after),
      count: after.length,
    });
    for (;;) {
      const step = steps.next();
      if (step.done) return step.value;
    }
  };

  test('counts each test for the last rule that matches it, and for every rule that does', () => {
    fc.assert(
      fc.property(tests, rules, rules, (all, before, after) => {
        const found = preview(all, before, after);
        expect(found.tests).toBe(all.length);
        found.rules.forEach(({ matches, tests: own }, i) => {
          const alone = preview(all, [], after.slice(i, i + 1)).rules[0];
          const last = preview(all, [], after.slice(0, i + 1)).rules.at(-1);
          expect(alone?.matches).toBe(matches);
          expect(last?.tests).toBe(matches);
          expect(own).toBeLessThanOrEqual(matches);
        });
        const ruled = all.filter((one) => ownership([], after).rulesOf(one).length > 0);
        expect(found.rules.reduce((sum, { tests: own }) => sum + own, 0)).toBe(ruled.length);
      }),
    );
  });

  test('lists the tests whose owners differ, with both, and none for the same rules', () => {
    fc.assert(
      fc.property(tests, rules, rules, (all, before, after) => {
        const { changed, changes } = preview(all, before, after);
        const [is, was] = [ownership([], after), ownership([], before)];
        const expected = all.flatMap((one) => {
          const [now, then] = [was.ownersOf(one).owners, is.ownersOf(one).owners];
          return JSON.stringify(now) === JSON.stringify(then) ? [] : [{ testId: one.testId, before: now, after: then }];
        });
        const sorted = (some: readonly { testId: string }[]) =>
          some.toSorted((one, other) => Number(one.testId) - Number(other.testId));
        expect(sorted(changes.map(({ name: _, ...one }) => one))).toEqual(sorted(expected));
        expect(changed).toBe(expected.length);
        expect(preview(all, after, after).changes).toEqual([]);
      }),
    );
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
