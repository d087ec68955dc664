/** CODEOWNERS of both hosts. `tests/commands/codeowners-git.test.ts` compares patterns with what git ignores. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { Codeowners } from '../../src/domain/codeowners.ts';
import { type CodeownersHost, PathText, pathPattern } from '../../src/domain/codeowners-pattern.ts';

const matches = (pattern: string, path: string, host: CodeownersHost = 'github'): boolean =>
  pathPattern(pattern, host).matches(new PathText(path));
const ownersOf = (text: string, path: string, host: CodeownersHost = 'github'): string[] =>
  new Codeowners(text, host).ownersOf(new PathText(path)).owners;

const joined = (units: string[], max: number) =>
  fc.array(fc.constantFrom(...units), { minLength: 1, maxLength: max }).map((names) => names.join('/'));
const path = joined(['a', 'b', 'ab', 'abc', 'a.b', '[a]'], 5);

describe('patterns of GitHub', () => {
  test.each([
    ['*', 'a/b.ts', true],
    ['*.js', 'a/b.js', true],
    ['*.js', 'b.jsx', false],
    ['/build/logs/', 'build/logs/x/y', true],
    ['/build/logs/', 'a/build/logs/y', false],
    ['guide/*', 'guide/a.md', true],
    ['guide/*', 'guide/build/a.md', false],
    ['apps/', 'x/apps/y/z', true],
    ['apps/', 'apps', false],
    ['/docs', 'docs/a', true],
    ['/docs', 'docsa', false],
    ['/scripts/*.sh', 'scripts/a.sh', true],
    ['a/**/b', 'a/b', true],
    ['a/**/b', 'a/x/y/b', true],
    ['a/**/b', 'axb/b', false],
    ['**/logs', 'deep/logs/x', true],
    ['a/**', 'a', false],
    ['my\\ file', 'my file', true],
    ['app/[id]/', 'app/[id]/x', true],
    ['app/[id]/', 'app/i/x', false],
    ['README', 'readme', false],
    ['?', '😀', true],
  ])('%s of %s: %p', (pattern, file, is) => {
    expect(matches(pattern, file)).toBe(is);
  });
});

describe('patterns of GitLab', () => {
  test.each([
    ['*', 'a/b.rb', true],
    ['*.rb', 'a/b.rb', true],
    ['/*.rb', 'a/b.rb', false],
    ['guide/', 'x/guide/y/z', true],
    ['/docs/', 'x/docs/y', false],
    ['/docs/*', 'docs/a', true],
    ['/docs/*', 'docs/x/a', false],
    ['/guide/**/*.md', 'guide/a.md', true],
    ['/guide/**/*.md', 'guide/x/y/a.md', true],
    ['ee/docs', 'x/ee/docs', true],
    ['ee/docs', 'ee/docs/a', false],
    ['README.md', 'x/README.md', true],
    ['/.gitlab/*', '.gitlab/x', true],
    ['\\#x', 'a/#x', true],
  ])('%s of %s: %p', (pattern, file, is) => {
    expect(matches(pattern, file, 'gitlab')).toBe(is);
  });
});

describe('a file of GitHub', () => {
  test('the last line that matches counts, and one without owners takes them away', () => {
    const text = '# all\n*  @acme/all  # but\n\n/src/ @acme/web dev@acme.com\r\n/src/free/\n*.md docs @acme/docs\n';
    expect(ownersOf(text, 'lib/a.ts')).toEqual(['@acme/all']);
    expect(ownersOf(text, 'src/a.ts')).toEqual(['@acme/web', 'dev@acme.com']);
    expect(ownersOf(text, 'src/free/a.ts')).toEqual([]);
    // `docs` is no owner: GitHub skips the line.
    expect(ownersOf(text, 'a.md')).toEqual(['@acme/all']);
    expect(new Codeowners(text, 'github').problems).toEqual([{ line: 6, reason: 'docs is no owner' }]);
  });

  test('the owners are those of the last line alone, whatever stands before it', () => {
    const rule = fc.tuple(joined(['a', 'b', '*', 'ab*', '**'], 3), fc.constantFrom('@x', '@y/z', 'a@b.c', ''));
    fc.assert(
      fc.property(fc.array(rule, { maxLength: 8 }), path, (rules, file) => {
        const last = rules.findLast(([pattern]) => matches(pattern, file));
        const text = rules.map((one) => one.join(' ')).join('\n');
        expect(ownersOf(text, file)).toEqual(last?.[1] ? [last[1]] : []);
      }),
    );
  });
});

describe('a file of GitLab', () => {
  const text = [
    '* @general',
    '!pom.xml',
    '[Documentation][2] @docs-team',
    'guide/',
    'README.md @@maintainer',
    '^[Database] @db',
    'model/db/',
    'model/db/setup.md @docs-team @db/setup',
    '!model/db/free/',
    '[DOCUMENTATION] @late',
    'late/',
  ].join('\n');

  test('every section has its owners, and the last line of each counts', () => {
    expect(ownersOf(text, 'a.rb', 'gitlab')).toEqual(['@general']);
    expect(ownersOf(text, 'guide/a.md', 'gitlab')).toEqual(['@general', '@docs-team']);
    expect(ownersOf(text, 'README.md', 'gitlab')).toEqual(['@general', '@@maintainer']);
    expect(ownersOf(text, 'model/db/a.rb', 'gitlab')).toEqual(['@general', '@db']);
    expect(ownersOf(text, 'model/db/setup.md', 'gitlab')).toEqual(['@general', '@docs-team', '@db/setup']);
    expect(ownersOf(text, 'late/docs/x', 'gitlab')).toEqual(['@general', '@late']);
  });

  test('an exclusion takes a path out of its section only', () => {
    expect(ownersOf(text, 'pom.xml', 'gitlab')).toEqual([]);
    expect(ownersOf(text, 'model/db/free/a', 'gitlab')).toEqual(['@general']);
  });

  test('words that are no owners are left out, and said', () => {
    const file = new Codeowners('/a @x someone\n', 'gitlab');
    expect(file.ownersOf(new PathText('a')).owners).toEqual(['@x']);
    expect(file.problems).toEqual([{ line: 1, reason: 'someone is no owner' }]);
  });
});

describe('hostile files', () => {
  test('any text is read, and any path matched', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (text, file) => {
        for (const host of ['github', 'gitlab'] as const) ownersOf(text, file, host);
      }),
    );
  });

  test('a pattern takes as many steps as it is long, however many ways there are to match', () => {
    // A regular expression would follow more ways than there are atoms.
    for (const unit of ['*a', '**/', '*?', 'a*/'])
      for (const host of ['github', 'gitlab'] as const) {
        const pattern = pathPattern(`${unit.repeat(250)}b`, host);
        expect(pattern.cost).toBeLessThan(1_100);
        expect(pattern.matches(new PathText(`${'a'.repeat(500)}/${'a/'.repeat(250)}ab`.replace(/b$/, 'c')))).toBe(
          false,
        );
      }
  });
});
