/** Axes and places as the environment of a CI job tells them, in the form that the service takes. Pure. */
import { createHash } from 'node:crypto';
import { AXIS_NAME_LENGTH_MAX, AXIS_VALUE_LENGTH_MAX, type Axes } from '../domain/axes.ts';
import { REFUSED_NAME } from '../domain/foreign-record.ts';
import { jsonOf } from '../domain/json.ts';
import { cleanText, isLongerThan } from '../domain/text.ts';

/** The axis of a matrix whose values come without their names. */
export const UNNAMED_AXIS = 'matrix';

/** Axes of variables; those that are not set are left out. */
export const axesFrom = (variables: Readonly<Record<string, string | undefined>>): Axes =>
  Object.fromEntries(
    Object.entries(variables).flatMap(([name, value]) => (value ? [[fitName(name), fitValue(value)]] : [])),
  );

const SYSTEMS: Readonly<Record<string, string>> = { darwin: 'macos', osx: 'macos', windows_nt: 'windows' };

/** One word for each operating system, however the CI calls it. */
export function systemOf(name: string | undefined): string | undefined {
  const word = name?.toLowerCase();
  return word && (SYSTEMS[word] ?? word);
}

export interface NamedAxes {
  axes: Axes;
  place: Axes;
  warnings: readonly string[];
}

const NONE: NamedAxes = { axes: {}, place: {}, warnings: [] };
const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The axes in CI_INSIGHTS_AXES, such as GitHub's `toJSON(matrix)`: none for `null`, which it is without a matrix. */
export function namedAxes(text: string | undefined): NamedAxes {
  const trimmed = text?.trim();
  if (!trimmed || trimmed === 'null') return NONE;
  const read = jsonOf(trimmed);
  if (!isObject(read))
    return { ...NONE, warnings: ['CI_INSIGHTS_AXES is no JSON object, such as {"os":"windows"}: it counts nothing.'] };
  const axes = new Map<string, string>();
  const place = new Map<string, string>();
  for (const [given, value] of Object.entries<unknown>({ ...read })) {
    const [name, text] = [fitName(given), textOf(value)];
    if (name !== '' && text !== '') (isPart(given, text) ? place : axes).set(name, fitValue(text));
  }
  return { axes: Object.fromEntries(axes), place: Object.fromEntries(place), warnings: [] };
}

const textOf = (value: unknown): string =>
  value === null || value === undefined ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value);

const PART_NAME =
  /^(?:ci|test|total|num)*(?:(?:shard|partition|chunk|group|part|split|slice|bucket|parallel)s?(?:index|total|count|number|id)?|(?:node|job)?(?:index|total))$/;

/** Whether an axis of a matrix only splits the tests: `shard: 2`, `ci_node_index: 0`, `group: 1/4`. */
const isPart = (name: string, value: string): boolean =>
  /^\d+(?:\/\d+)?$/.test(value) && PART_NAME.test(name.toLowerCase().replace(/[^a-z]/g, ''));

function fitName(given: string): string {
  const name = cleanText(given)
    .trim()
    .replace(/[:=\s]+/gu, '-');
  return name === REFUSED_NAME ? name.replaceAll('_', '-') : [...name].slice(0, AXIS_NAME_LENGTH_MAX).join('');
}

const DIGEST_LENGTH = 8;

/** The end of a long value becomes a digest, so that two that begin alike stay two. */
function fitValue(value: string): string {
  const clean = cleanText(value);
  if (!isLongerThan(clean, AXIS_VALUE_LENGTH_MAX)) return clean;
  const digest = createHash('sha256').update(clean).digest('hex').slice(0, DIGEST_LENGTH);
  return `${[...clean].slice(0, AXIS_VALUE_LENGTH_MAX - DIGEST_LENGTH - 1).join('')}…${digest}`;
}
