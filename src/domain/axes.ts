/**
 * Axes: where a result was made, as names and values (`os`: `windows`, `python`: `3.13`). The axes of a CI job's results name
 * its leg. Pure.
 */
import { z } from 'zod';

const axesSchema = z.record(z.string(), z.string());

export type Axes = Readonly<z.infer<typeof axesSchema>>;

export const AXES_MAX = 16;
export const AXIS_NAME_LENGTH_MAX = 64;
export const AXIS_VALUE_LENGTH_MAX = 255;

/** Names a leg: the same for every order of its axes. Empty for a leg without axes. */
export function axesText(axes: Axes): string {
  const entries = Object.entries(axes);
  if (entries.length === 0) return '';
  return JSON.stringify(Object.fromEntries(entries.sort(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0))));
}

/** The axes of a leg from its {@link axesText}. */
export function axesOf(text: string): Axes {
  return text === '' ? {} : axesSchema.parse(JSON.parse(text));
}
