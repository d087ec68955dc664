/** The files of a change: each once, in order, within the limits of what is stored. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { changedPathsOf } from '../../src/domain/changed-paths.ts';
import { CHANGED_FILES_BYTES_MAX, CHANGED_FILES_MAX, CHANGED_PATH_LENGTH_MAX } from '../../src/domain/limits.ts';

test('it is the beginning of what there is, without repeats, and never more than is stored', () => {
  const line = fc.oneof(fc.string({ maxLength: 8 }), fc.constantFrom('', ' ', 'a'.repeat(CHANGED_PATH_LENGTH_MAX + 1)));
  const many = fc.tuple(fc.integer({ min: 1, max: 4_000 }), fc.integer({ min: 1, max: 400 }));
  fc.assert(
    fc.property(fc.array(line, { maxLength: 30 }), many, (some, [count, length]) => {
      const lines = [...some, ...Array.from({ length: count }, (_, i) => `${i}/${'é'.repeat(length)}`)];
      const paths = changedPathsOf(lines);
      const all = [...new Set(lines.map((one) => one.trim()))].filter(
        (path) => path !== '' && path.length <= CHANGED_PATH_LENGTH_MAX,
      );
      expect(paths).toEqual(all.slice(0, paths.length));
      expect(paths.length).toBeLessThanOrEqual(CHANGED_FILES_MAX);
      const bytes = (of: readonly string[]) => of.reduce((sum, path) => sum + Buffer.byteLength(path), 0);
      expect(bytes(paths)).toBeLessThanOrEqual(CHANGED_FILES_BYTES_MAX);
      if (paths.length < Math.min(all.length, CHANGED_FILES_MAX))
        expect(bytes(all.slice(0, paths.length + 1))).toBeGreaterThan(CHANGED_FILES_BYTES_MAX);
    }),
    { numRuns: 50 },
  );
});
