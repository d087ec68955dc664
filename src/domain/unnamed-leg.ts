/**
 * Legs without names: reports of one attempt of a CI job that contradict each other under the same names. They are told
 * apart by the order in which they arrive. Pure.
 */
import { AXES_MAX, type Axes } from './axes.ts';
import { UNNAMED_LEG_AXIS } from './axes-in-words.ts';

/** A report that contradicts this many stays with the last of them. The number takes four bits of an execution's id. */
export const UNNAMED_LEGS_MAX = 16;

/** How many legs reports with these axes may become: one if they name this axis, or if there is no room for it. */
export const unnamedLegsOf = (axes: Axes | undefined): number =>
  axes !== undefined && (Object.hasOwn(axes, UNNAMED_LEG_AXIS) || Object.keys(axes).length >= AXES_MAX)
    ? 1
    : UNNAMED_LEGS_MAX;

/** The axes of an unnamed leg: those that its reports name and, from the second on, its number. */
export const axesInLeg = (axes: Axes | undefined, leg: number): Axes | undefined =>
  leg === 1 ? axes : { ...axes, [UNNAMED_LEG_AXIS]: String(leg) };

/** How to name legs: a line to paste, by the format of the report. Null as the format: jobs of the queue. */
export function namingLine(format: string | null): string {
  if (format === null) return '"run": { "axes": { "os": "linux" } }';
  if (format === 'otlp') return 'export OTEL_RESOURCE_ATTRIBUTES="$OTEL_RESOURCE_ATTRIBUTES,test.axis.os=$OS"';
  return `ci-insights push ${/^[\w-]+$/.test(format) ? format : 'reports'} --axis os="$OS"`;
}
