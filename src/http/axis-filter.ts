/** Filters by axes: `axis=os:windows`. Values of one axis are alternatives, different axes must all hold. */
import { z } from 'zod';
import { AXIS_NAME_LENGTH_MAX, AXIS_VALUE_LENGTH_MAX, axesRejection, axisOf } from '../domain/axes.ts';
import { REQUEST_LIMITS } from '../domain/limit-table.ts';
import { ARRAY_LENGTH_MAX } from '../domain/limits.ts';
import type { QueryParameter } from './parameters.ts';

/** Names and values as `name:value`, sorted and each once, because their order has no meaning. */
export type AxisFilter = readonly string[];

const pair = z.string().transform((value, context) => {
  const axis = axisOf(value);
  const problem = axis
    ? axesRejection({ [axis[0]]: axis[1] })
    : 'must be a name and a value with a colon between them, such as os:linux';
  if (problem === null) return value;
  context.addIssue({ code: 'custom', message: problem });
  return z.NEVER;
});

/** @param description what is left */
export const axisFilterParameter = (description: string): QueryParameter<AxisFilter> => ({
  read: z.preprocess(
    (list) => list ?? [],
    z
      .array(z.string())
      .max(ARRAY_LENGTH_MAX, REQUEST_LIMITS.ARRAY_LENGTH_MAX.sentence())
      .pipe(z.array(pair))
      .transform((pairs) => [...new Set(pairs)].sort()),
  ),
  schema: {
    type: 'array',
    maxItems: ARRAY_LENGTH_MAX,
    items: {
      type: 'string',
      pattern: `^[^:=\\s]{1,${AXIS_NAME_LENGTH_MAX}}:`,
      maxLength: AXIS_NAME_LENGTH_MAX + 1 + AXIS_VALUE_LENGTH_MAX,
    },
  },
  description: `${description} Repeated: values of one axis are alternatives, different axes must all hold.`,
  example: ['os:windows'],
  required: false,
  isRepeated: true,
});

/** The values that are alternatives, by the name of their axis. */
export const valuesByAxis = (filter: AxisFilter): ReadonlyMap<string, readonly string[]> => {
  const found = new Map<string, string[]>();
  for (const one of filter) {
    const [name, value] = axisOf(one) ?? [one, ''];
    found.set(name, [...(found.get(name) ?? []), value]);
  }
  return found;
};

/** Parameters of a statement that filters by axes. */
export const AXIS_PARAMETERS = { axis_names: 'Array(String)', axis_pairs: 'Array(String)' } as const;

export const axisValues = (filter: AxisFilter) => ({
  axis_names: [...new Set(filter.map((one) => one.slice(0, one.indexOf(':'))))],
  axis_pairs: filter,
});
