/** A column of a job is accepted and refused exactly as zod does it value by value, with the same sentences. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { z } from 'zod';
import * as plain from '../../src/domain/plain-array.ts';

const COLUMNS: Readonly<Record<string, readonly [z.ZodType, z.ZodType]>> = {
  texts: [plain.texts, z.string()],
  'optional texts': [plain.optionalTexts, z.string().nullable()],
  flags: [plain.flags, z.boolean()],
  numbers: [plain.numbers, z.number()],
  'optional numbers': [plain.optionalNumbers, z.number().nullable()],
  'numbers from 0': [plain.numbersFrom(0), z.number().min(0)],
  'whole numbers from 0': [plain.wholeNumbers(0), z.int().min(0)],
  'whole numbers from 1 to 65,535': [plain.wholeNumbers(1, 65_535), z.int().min(1).max(65_535)],
  'one of two': [plain.oneOf(['passed', 'failed']), z.enum(['passed', 'failed'])],
};

const values = fc.oneof(
  fc.string(),
  fc.constantFrom('passed', 'failed', null, undefined, true, false, 0, 1, -1, -0, 65_535, 65_536, 0.5, 2 ** 53),
  fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.MAX_SAFE_INTEGER),
  fc.anything(),
);
/** Mostly of one kind, so that some are accepted. */
const arrays = fc.oneof(
  fc.array(fc.string()),
  fc.array(fc.option(fc.string())),
  fc.array(fc.boolean()),
  fc.array(fc.nat()),
  fc.array(fc.option(fc.double())),
  fc.array(fc.constantFrom('passed', 'failed')),
  fc.array(values),
  fc.anything(),
);

describe.each(Object.entries(COLUMNS))('%s', (_, [quick, element]) => {
  test('are what zod takes, and refused with the same issues', () => {
    const slow = z.array(element);
    fc.assert(
      fc.property(arrays, (input) => {
        const [one, other] = [quick.safeParse(input), slow.safeParse(input)];
        expect(one.success).toBe(other.success);
        if (other.success) expect(one.data).toEqual(other.data);
        else expect(one.error?.issues).toEqual(other.error.issues);
      }),
    );
  });
});
