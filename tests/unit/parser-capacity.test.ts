/** How many parsers a container holds: never more than it has memory for. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { API_BYTES, PARSER_BYTES_MAX, parsersFor } from '../../src/ingest/parsing/capacity.ts';

const GIB = 1024 ** 3;

test.each([
  [0, 8, 4],
  [16 * GIB, 1, 2],
  [16 * GIB, 8, 4],
  [4 * GIB, 8, 2],
  [2.5 * GIB, 8, 1],
  [1 * GIB, 8, 1],
])('%i bytes and %i processors have %i parsers', (memoryBytes, processors, size) => {
  expect(parsersFor(memoryBytes, processors).size).toBe(size);
});

test('together with the API they fit into the memory, unless it is too small for the largest upload', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1.25 * GIB, max: 64 * GIB }),
      fc.integer({ min: 1, max: 64 }),
      (bytes, processors) => {
        const { size, memoryBytesMax } = parsersFor(bytes, processors);
        expect(size).toBeGreaterThanOrEqual(1);
        expect(memoryBytesMax).toBeLessThanOrEqual(PARSER_BYTES_MAX);
        expect(API_BYTES + size * memoryBytesMax).toBeLessThanOrEqual(bytes);
      },
    ),
  );
});
