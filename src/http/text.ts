/** What any text of a request must be: well-formed, without NUL, and as long as allowed (in code points; design §4 "lengths"). */
import { z } from 'zod';

/** Whether the text holds more than so many code points; counts no further than needed. */
export function isLongerThan(text: string, codePoints: number): boolean {
  if (text.length <= codePoints) return false;
  let count = 0;
  for (const _ of text) if (++count > codePoints) return true;
  return false;
}

/** Text of `min` to `max` code points. */
export const text = (min: number, max: number): z.ZodType<string, string> =>
  z
    .string()
    .refine((value) => value.isWellFormed(), { error: 'holds half of a surrogate pair', abort: true })
    .refine((value) => !value.includes('\0'), { error: 'holds a NUL character', abort: true })
    .refine((value) => value.length >= min, {
      error: min === 1 ? 'is empty' : `is shorter than ${min} characters`,
      params: { type: 'too_short' },
    })
    .refine((value) => !isLongerThan(value, max), {
      error: `is longer than ${max} characters`,
      params: { type: 'too_long' },
    });
