/** How many parsers a container holds: never more than it has memory for. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { API_BYTES, PARSER_BYTES_MAX, parsersFor, tooSmallFor } from '../../src/ingest/parsing/capacity.ts';

const GIB = 1024 ** 3;

test.each([
  [16 * GIB, 1, 2],
  [16 * GIB, 8, 4],
  [4 * GIB, 8, 2],
  [2.5 * GIB, 8, 1],
  [1 * GIB, 8, 1],
])('%i bytes and %i processors have %i parsers', (memoryBytes, processors, size) => {
  expect(parsersFor({ memoryBytes, processors }).size).toBe(size);
});

test('the operator decides how many there are, and each may take less', () => {
  expect(parsersFor({ memoryBytes: 16 * GIB, processors: 8, parsers: 1 }).size).toBe(1);
  const three = parsersFor({ memoryBytes: 4 * GIB, processors: 2, parsers: 3 });
  expect(three.size).toBe(3);
  expect(API_BYTES + 3 * three.memoryBytesMax).toBeLessThanOrEqual(4 * GIB);
});

test('together with the API they fit into the memory, unless it is too small for an ordinary upload', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1.25 * GIB, max: 64 * GIB }),
      fc.integer({ min: 1, max: 64 }),
      (memoryBytes, processors) => {
        const { size, memoryBytesMax } = parsersFor({ memoryBytes, processors });
        expect(size).toBeGreaterThanOrEqual(1);
        expect(memoryBytesMax).toBeLessThanOrEqual(PARSER_BYTES_MAX);
        expect(API_BYTES + size * memoryBytesMax).toBeLessThanOrEqual(memoryBytes);
      },
    ),
  );
});

test('where the largest uploads cannot be read, the operator is told what is missing', () => {
  const told = (memoryBytes: number, parsers?: number): string | undefined =>
    tooSmallFor(parsersFor({ memoryBytes, processors: 2, parsers }), memoryBytes);
  expect(told(4 * GIB)).toBeUndefined();
  expect(told(2.4 * GIB)).toBeUndefined();
  expect(told(2 * GIB)).toBe(
    'The service has 2048 MiB of memory. Uploads that take more than 1348 MiB to read are refused with 413; the largest that are allowed need 2364 MiB.',
  );
  expect(told(4 * GIB, 3)).toContain('need 5692 MiB, or fewer parsers than 3.');
});
