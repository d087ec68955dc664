/** Text of a request: well-formed, without NUL, and as long as allowed; addresses that pages link to. */
import { z } from 'zod';
import { shortBranch } from '../domain/default-branch.ts';
import { REQUEST_LIMITS } from '../domain/limit-table.ts';
import { NAME_LENGTH_MAX, webAddressOf } from '../domain/limits.ts';
import { textProblem } from '../domain/text.ts';

/** Text of `min` to `max` code points. */
export const text = (min: number, max: number): z.ZodType<string, string> =>
  z.string().superRefine((value, context) => {
    const problem = textProblem(value, min, max);
    if (problem) context.addIssue({ code: 'custom', message: problem.reason, params: { type: problem.type } });
  });

/** A branch, or a pattern for branches, with or without `refs/heads/`, as uploads name it → without. */
export const branchName = z.string().transform(shortBranch).pipe(text(1, NAME_LENGTH_MAX));

/** An address with http or https, which a page may link to. */
export const webAddress: z.ZodType<string, string> = z
  .string()
  .refine((value) => webAddressOf(value) !== null && URL.canParse(value), {
    error: REQUEST_LIMITS.WEB_ADDRESS_BYTES_MAX.sentence(),
    params: { type: 'invalid_url' },
  });
