/** The size of a body is known before it is parsed, and that of all bodies together is bounded. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { BodyRoom } from '../../src/http/body-room.ts';
import { excessOf } from '../../src/http/json-shape.ts';
import { HttpProblem } from '../../src/http/problems.ts';

const bytesOf = (text: string) => new TextEncoder().encode(text);

/** The depth and the number of values that the parsed value has. */
function measured(value: unknown): { depth: number; values: number } {
  if (typeof value !== 'object' || value === null) return { depth: 0, values: 1 };
  const inner = Object.values(value).map(measured);
  return {
    depth: 1 + Math.max(0, ...inner.map(({ depth }) => depth)),
    values: 1 + inner.reduce((sum, { values }) => sum + values, 0),
  };
}

describe('the shape of JSON', () => {
  test('is never deeper than counted, and is counted at most twice', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 5 }), (json) => {
        const { depth, values } = measured(JSON.parse(json));
        const most = { depthMax: 100, valuesMax: 1_000_000 };
        expect(excessOf(bytesOf(json), { ...most, depthMax: depth })).toBeUndefined();
        if (depth > 0) expect(excessOf(bytesOf(json), { ...most, depthMax: depth - 1 })).toBe('depth');
        expect(excessOf(bytesOf(json), { ...most, valuesMax: 2 * values })).toBeUndefined();
        if (values > 1)
          expect(excessOf(bytesOf(json), { ...most, valuesMax: Math.ceil(values / 2) - 1 })).toBe('values');
      }),
    );
  });

  test('does not count what stands in texts, however they end', () => {
    const few = { depthMax: 1, valuesMax: 4 };
    for (const text of ['["[[[,,,{{{"]', '["\\"[[[,,,"]', '["\\\\"]', '["[[[[,,,,', '["\\'])
      expect([text, excessOf(bytesOf(text), few)]).toEqual([text, undefined]);
    expect(excessOf(bytesOf('["\\\\",[1]]'), few)).toBe('depth');
  });
});

describe('the room for bodies', () => {
  const pieces = (count: number) => Array.from({ length: count }, () => new Uint8Array(10));
  const read = async (chunks: AsyncIterable<Uint8Array>): Promise<number> => {
    let bytes = 0;
    for await (const chunk of chunks) bytes += chunk.length;
    return bytes;
  };

  test('is shared by all that arrive, however slowly, and free again when they leave', async () => {
    const room = new BodyRoom(100);
    const slow = Array.from({ length: 5 }, () => room.enter());
    for (const place of slow) expect(await read(place.counted(pieces(2)))).toBe(20);
    const late = room.enter();
    const refused = await read(late.counted(pieces(1))).catch((error) => error);
    expect(refused).toBeInstanceOf(HttpProblem);
    expect(refused.status).toBe(503);
    late.leave();
    expect(room.bytes).toBe(100);
    for (const place of slow) {
      place.leave();
      place.leave();
    }
    expect(room.bytes).toBe(0);
    expect(await read(room.enter().counted(pieces(10)))).toBe(100);
  });
});
