/** The policy that a backtest replays, as the API takes it and the report repeats it. */
import { z } from 'zod';
import { formatMoment, parseMoment } from './moment.ts';
import {
  AUTO_QUARANTINE_MODES,
  QUARANTINE_CONSTANTS,
  type QuarantineConstant,
  type QuarantineConstants,
} from './quarantine-rules.ts';
import { DAY_MS } from './time.ts';

const COMMITS_MAX = 1_000;
const SPAN_MS_MAX = 30 * DAY_MS;

/** Bounds of what the constants may be set to: beyond them, no test would ever be quarantined. */
const whole = (min: number, max: number) => z.int().min(min).max(max).optional();
const CONSTANTS = {
  QUARANTINE_PROBABILITY_MIN: z.number().min(0).max(1).optional(),
  QUARANTINE_FLAKY_COMMITS_MIN: whole(1, COMMITS_MAX),
  QUARANTINE_BROKEN_COMMITS_MIN: whole(1, COMMITS_MAX),
  QUARANTINE_BROKEN_MS_MIN: whole(0, SPAN_MS_MAX),
} satisfies Record<QuarantineConstant, z.ZodType>;

const changedConstantsSchema = z.strictObject(CONSTANTS);
export type ChangedConstants = z.infer<typeof changedConstantsSchema>;

export const constantsOf = (changed: ChangedConstants): QuarantineConstants => ({
  ...QUARANTINE_CONSTANTS,
  ...Object.fromEntries(Object.entries(changed).filter(([, value]) => value !== undefined)),
});

const moment = z
  .string()
  .transform((value, context) => {
    const at = parseMoment(value);
    if (at !== undefined) return formatMoment(at);
    context.addIssue({
      code: 'custom',
      message: 'must be an ISO 8601 date-time with a time zone, such as 2026-09-22T00:00:00Z',
      params: { type: 'invalid_datetime' },
    });
    return z.NEVER;
  })
  .meta({ format: 'date-time', description: 'When the policy was switched on', example: '2026-09-22T00:00:00.000Z' });

export const backtestPolicySchema = z
  .strictObject({
    auto_quarantine: z.enum(AUTO_QUARANTINE_MODES).meta({ example: 'flaky' }),
    since: moment,
    is_narrowed: z.boolean().default(false).meta({
      description:
        'Whether a quarantine is only for the failure groups that it was made for, and not for every failure',
    }),
    constants: changedConstantsSchema
      .default({})
      .meta({ description: 'Other values of constants of docs/judgements.md', example: {} }),
  })
  .meta({ id: 'BacktestPolicy' });

export type BacktestPolicy = z.output<typeof backtestPolicySchema>;

/** A constant as flags set it. Throws a RangeError in words for what is no constant or no value of it. */
export function parseConstant(text: string): ChangedConstants {
  const [, name = '', value = ''] = /^([A-Z_]+)=(-?\d+(?:\.\d+)?)$/.exec(text) ?? [];
  const known = Object.keys(CONSTANTS);
  if (name === '') throw new RangeError('Write it as NAME=number, for example QUARANTINE_PROBABILITY_MIN=0.99.');
  if (!known.includes(name)) throw new RangeError(`A backtest changes only ${known.join(', ')}.`);
  const parsed = changedConstantsSchema.safeParse({ [name]: Number(value) });
  if (!parsed.success) throw new RangeError(`${name}: ${parsed.error.issues[0]?.message ?? 'is not valid'}.`);
  return parsed.data;
}
