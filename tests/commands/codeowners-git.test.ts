/** Patterns of GitHub's CODEOWNERS compared with what git itself ignores. */
import { expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { PathText, pathPattern } from '../../src/domain/codeowners-pattern.ts';
import { makeFolder } from '../support/folder.ts';

const joined = (units: string[], max: number) =>
  fc.array(fc.constantFrom(...units), { minLength: 1, maxLength: max }).map((names) => names.join('/'));
const path = joined(['a', 'b', 'ab', 'abc', 'a.b'], 5);

const hasGit = Bun.which('git') !== null;
if (!hasGit) console.error('skipped: patterns compared with those of git, because git is not installed');

test.skipIf(!hasGit)('match what git ignores, save that GitHub reads a last * as one name', () => {
  const folder = makeFolder('codeowners');
  Bun.spawnSync(['git', 'init', '-q', folder]);
  const names = ['a', 'b', 'ab', 'a*', '*b', '?', '*.b', 'a?c', '\\a', '**', '*'];
  const anyPattern = fc
    .tuple(fc.constantFrom('', '/'), joined(names, 4), fc.constantFrom('', '/'))
    .map((parts) => parts.join(''))
    // After ** or a last *, git tells folders from files; CODEOWNERS is about files only.
    .filter((one) => !/(?:^|\/)\*\/?$/.test(one) && !/\*\*\/(?:$|\*\*)/.test(one));
  fc.assert(
    fc.property(anyPattern, fc.uniqueArray(path, { minLength: 1, maxLength: 40 }), (pattern, paths) => {
      writeFileSync(join(folder, '.gitignore'), `${pattern}\n`);
      const { stdout } = Bun.spawnSync(['git', '-C', folder, 'check-ignore', '--no-index', '-z', '--stdin'], {
        stdin: Buffer.from(paths.join('\0')),
      });
      const ignored = new Set(stdout.toString().split('\0'));
      const wrong = paths.filter(
        (one) => pathPattern(pattern, 'github').matches(new PathText(one)) !== ignored.has(one),
      );
      expect([pattern, wrong]).toEqual([pattern, []]);
    }),
    { numRuns: 150 },
  );
});
