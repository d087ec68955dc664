/**
 * Axes: where a result was made, as names and values (`os`: `windows`, `python`: `3.13`). The axes of a CI job's results name
 * its leg. A place (shard, runner, region) has the same form: it tells machines apart without changing what is tested, so
 * it is shown and names nothing. Pure.
 */
import { z } from 'zod';
import { foreignRecord, REFUSED_NAME } from './foreign-record.ts';
import { textProblem } from './text.ts';

export const axesSchema = foreignRecord(z.string(), z.string());

export type Axes = Readonly<z.infer<typeof axesSchema>>;

export const AXES_MAX = 16;
export const AXIS_NAME_LENGTH_MAX = 64;
export const AXIS_VALUE_LENGTH_MAX = 255;

/** Names a leg: the same for every order of its axes. Empty for a leg without axes. */
export function axesText(axes: Axes | undefined): string {
  const entries = Object.entries(axes ?? {});
  if (entries.length === 0) return '';
  return JSON.stringify(Object.fromEntries(entries.sort(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0))));
}

/** The axes of a leg from its {@link axesText}. */
export function axesOf(text: string): Axes {
  return text === '' ? {} : axesSchema.parse(JSON.parse(text));
}

/** All of them: the first value of each name, as many as a leg may have. Undefined for none. */
export function joinedAxes(...parts: readonly (Axes | undefined)[]): Axes | undefined {
  const joined = new Map<string, string>();
  for (const part of parts)
    for (const [name, value] of Object.entries(part ?? {}))
      if (joined.size < AXES_MAX && !joined.has(name)) joined.set(name, value);
  return joined.size === 0 ? undefined : Object.fromEntries(joined);
}

/** The axis of `os:windows`; undefined without a colon. A value may hold colons, a name cannot. */
export function axisOf(text: string): [name: string, value: string] | undefined {
  const colon = text.indexOf(':');
  return colon < 0 ? undefined : [text.slice(0, colon), text.slice(colon + 1)];
}

/** Why axes cannot be stored, or null. */
export function axesRejection(axes: Axes | undefined): string | null {
  const entries = Object.entries(axes ?? {});
  if (entries.length > AXES_MAX) return `there are more than ${AXES_MAX} axes`;
  for (const [name, value] of entries) {
    const problem = nameProblem(name) ?? textProblem(value, 1, AXIS_VALUE_LENGTH_MAX)?.reason;
    if (problem) return `the axis ${JSON.stringify(name.slice(0, AXIS_NAME_LENGTH_MAX))} ${problem}`;
  }
  return null;
}

function nameProblem(name: string): string | undefined {
  if (name === REFUSED_NAME) return 'has a name that is not allowed';
  const reason = textProblem(name, 1, AXIS_NAME_LENGTH_MAX)?.reason;
  return reason ?? (/[:=\s]/u.test(name) ? 'holds a colon, an equals sign or a space in its name' : undefined);
}
