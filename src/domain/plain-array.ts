/**
 * Arrays of plain values, such as the columns of a job. Zod runs the schema of an element on each value, which for the
 * columns of a job took longer than to parse its JSON. So a function looks at the values first, and the schema is run only
 * on an array in which one differs, to say which.
 */
import { z } from 'zod';

type Test = (value: unknown) => boolean;

/**
 * An array as zod makes it, that is checked faster. Do not call methods on it that make another schema of the same kind, such
 * as `describe`: what they return is checked as slowly as ever. `optional()` is fine.
 *
 * @param isPlain true only of values that `element` takes as they are
 */
function plainArray<E extends z.ZodType>(element: E, isPlain: Test): z.ZodArray<E> {
  const schema = z.array(element);
  const { run } = schema._zod;
  schema._zod.run = (payload, context) =>
    Array.isArray(payload.value) && all(payload.value, isPlain) ? payload : run(payload, context);
  return schema;
}

/** A plain loop, which also sees holes. */
function all(values: readonly unknown[], isPlain: Test): boolean {
  for (let i = 0; i < values.length; i++) if (!isPlain(values[i])) return false;
  return true;
}

const isText: Test = (value) => typeof value === 'string';
const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);
const orNull =
  (isPlain: Test): Test =>
  (value) =>
    value === null || isPlain(value);

export const texts = plainArray(z.string(), isText);
export const optionalTexts = plainArray(z.string().nullable(), orNull(isText));
export const flags = plainArray(z.boolean(), (value) => typeof value === 'boolean');
export const numbers = plainArray(z.number(), isNumber);
export const optionalNumbers = plainArray(z.number().nullable(), orNull(isNumber));

/** Numbers of at least `min`. */
export const numbersFrom = (min: number) => plainArray(z.number().min(min), (value) => isNumber(value) && value >= min);

/** Whole numbers from `min` to `max`; both included. */
export const wholeNumbers = (min: number, max?: number) => {
  const element = z.int().min(min);
  return plainArray(
    max === undefined ? element : element.max(max),
    (value) =>
      typeof value === 'number' && Number.isSafeInteger(value) && value >= min && (max === undefined || value <= max),
  );
};

export function oneOf<const T extends readonly string[]>(allowed: T) {
  const known = new Set<unknown>(allowed);
  return plainArray(z.enum(allowed), (value) => known.has(value));
}
