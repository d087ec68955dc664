/** Text of a request: well-formed, without NUL, and as long as allowed. */
import { z } from 'zod';
import { textProblem } from '../domain/text.ts';

/** Text of `min` to `max` code points. */
export const text = (min: number, max: number): z.ZodType<string, string> =>
  z.string().superRefine((value, context) => {
    const problem = textProblem(value, min, max);
    if (problem) context.addIssue({ code: 'custom', message: problem.reason, params: { type: problem.type } });
  });
