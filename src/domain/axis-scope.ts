/** The legs that a quarantine is narrowed to: for each axis that it names, the values that it covers. Pure. */
import { z } from 'zod';
import { AXES_MAX, type Axes, axesRejection } from './axes.ts';
import { foreignRecord } from './foreign-record.ts';

/** So many values may one axis have. */
export const AXIS_VALUES_MAX = 16;

const TOO_MANY_VALUES = `names more than ${AXIS_VALUES_MAX} values of one axis`;

export const axisScopeSchema = foreignRecord(
  z.string(),
  z.array(z.string()).max(AXIS_VALUES_MAX, { error: TOO_MANY_VALUES }),
);

/** By the name of the axis. */
export type AxisScope = Readonly<Record<string, readonly string[]>>;

export type StoredAxisScope = z.infer<typeof axisScopeSchema>;

/** Whether a leg has one of the values of each axis. One that does not tell an axis has none of its values. */
export const coversAxes = (scope: AxisScope, axes: Axes): boolean =>
  Object.entries(scope).every(([name, values]) => {
    const value = axisValue(axes, name);
    return value !== undefined && values.includes(value);
  });

/** The value of an axis; undefined for a leg that does not tell it. */
export const axisValue = (axes: Axes, name: string): string | undefined =>
  Object.hasOwn(axes, name) ? axes[name] : undefined;

/** In the form in which it is stored and compared: the order of axes and values means nothing, nor do repetitions. */
export const orderedAxisScope = (scope: AxisScope): StoredAxisScope =>
  Object.fromEntries(
    Object.entries(scope)
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, values]) => [name, [...new Set(values)].sort()]),
  );

/** Equal for equal ones. */
export const axisScopeText = (scope: AxisScope): string => JSON.stringify(orderedAxisScope(scope));

export const axisScopeOf = (text: string): StoredAxisScope => axisScopeSchema.parse(JSON.parse(text));

/** Each axis with each of its values. */
export const axisPairs = (scope: AxisScope | null): [name: string, value: string][] =>
  Object.entries(scope ?? {}).flatMap(([name, values]) => values.map((value): [string, string] => [name, value]));

/** Why it cannot be stored, or null. */
export function axisScopeRejection(scope: AxisScope): string | null {
  const entries = Object.entries(scope);
  if (entries.length === 0) return 'is empty; leave it out, or send null, for every leg';
  if (entries.length > AXES_MAX) return `names more than ${AXES_MAX} axes`;
  for (const [name, values] of entries) {
    if (values.length === 0) return `names no value of the axis ${JSON.stringify(name)}`;
    if (values.length > AXIS_VALUES_MAX) return TOO_MANY_VALUES;
    for (const value of values) {
      const problem = axesRejection({ [name]: value });
      if (problem) return problem;
    }
  }
  return null;
}
