/** A list that is cut into pieces for statements loses nothing. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { piecesOf } from '../../src/pieces.ts';

test('pieces are the list in its order, all full but the last, and none is empty', () => {
  fc.assert(
    fc.property(fc.array(fc.integer(), { maxLength: 50 }), fc.integer({ min: 1, max: 20 }), (list, most) => {
      const pieces = [...piecesOf(list, most)];
      expect(pieces.flat()).toEqual(list);
      expect(pieces.slice(0, -1).every(({ length }) => length === most)).toBe(true);
      expect(pieces.every(({ length }) => length > 0 && length <= most)).toBe(true);
    }),
  );
});
