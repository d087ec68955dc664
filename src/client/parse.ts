/** Parsers of flags. Each throws commander's error, so a bad value is a usage error (exit code 2). */
import { InvalidArgumentError } from 'commander';
import { systemClock } from '../clock.ts';
import { attachmentsFolderOf } from '../domain/attachments.ts';
import { AXES_MAX, type Axes, axesRejection } from '../domain/axes.ts';
import { type AxisScope, axisScopeRejection } from '../domain/axis-scope.ts';
import {
  OWNER_LENGTH_MAX,
  ownerSchema,
  REPOSITORY_NAME_LENGTH_MAX,
  type RepositoryName,
  repositoryNameSchema,
} from '../domain/repository-path.ts';
import { DAY_MS, HOUR_MS } from '../domain/time.ts';
import { isWebAddress } from './settings.ts';

export function parseOwner(value: string): string {
  if (!ownerSchema.safeParse(value).success)
    throw new InvalidArgumentError(`An owner has 1 to ${OWNER_LENGTH_MAX} letters, digits and hyphens.`);
  return value;
}

export function parseRepositoryName(value: string): string {
  if (!repositoryNameSchema.safeParse(value).success)
    throw new InvalidArgumentError(
      `A repository name has 1 to ${REPOSITORY_NAME_LENGTH_MAX} letters, digits, dots, hyphens and underscores.`,
    );
  return value;
}

/** `acme/shop`. */
export function parsePath(value: string): RepositoryName {
  const [owner, name, ...rest] = value.split('/');
  if (!owner || !name || rest.length > 0)
    throw new InvalidArgumentError('Write it as owner/name, for example acme/shop.');
  return { owner: parseOwner(owner), name: parseRepositoryName(name) };
}

/** For flags that may be given several times. */
export function collectRepositoryName(value: string, before: string[] | undefined): string[] {
  return [...(before ?? []), parseRepositoryName(value)];
}

export const collectText = (value: string, before: string[] | undefined): string[] => [...(before ?? []), value];

/** `os=windows`, each name once. */
export const collectAxis = (value: string, before: Axes | undefined): Axes =>
  withPair(value, before, { one: 'axis', many: 'axes', example: 'os=windows' });

/** `os=windows`; the same name again means either value. */
export function collectAxisValue(text: string, before: AxisScope = {}): AxisScope {
  const [name = '', value = ''] = Object.entries(collectAxis(text, undefined))[0] ?? [];
  const scope = { ...before, [name]: [...(Object.hasOwn(before, name) ? (before[name] ?? []) : []), value] };
  const problem = axisScopeRejection(scope);
  if (problem !== null) throw new InvalidArgumentError(`It ${problem}.`);
  return scope;
}

export const collectPlace = (value: string, before: Axes | undefined): Axes =>
  withPair(value, before, { one: 'place', many: 'places', example: 'runner=r7' });

function withPair(
  text: string,
  before: Axes = {},
  { one, many, example }: Record<'one' | 'many' | 'example', string>,
): Axes {
  const equals = text.indexOf('=');
  if (equals < 0) throw new InvalidArgumentError(`Write it as name=value, for example ${example}.`);
  const [name, value] = [text.slice(0, equals), text.slice(equals + 1)];
  if (Object.hasOwn(before, name)) throw new InvalidArgumentError(`The ${one} ${name} is given twice.`);
  if (Object.keys(before).length >= AXES_MAX)
    throw new InvalidArgumentError(`There may be at most ${AXES_MAX} ${many}.`);
  const problem = axesRejection({ [name]: value });
  if (problem !== null) throw new InvalidArgumentError(sentence(problem.replace(/^the axis/, `the ${one}`)));
  return { ...before, [name]: value };
}

const sentence = (text: string): string => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`;

export function parseWhole(value: string): number {
  if (!/^[1-9]\d{0,9}$/.test(value)) throw new InvalidArgumentError('It must be a positive whole number.');
  return Number(value);
}

/** Parses a whole number between two others. */
export const parseWholeWithin =
  (min: number, max: number) =>
  (value: string): number => {
    if (!/^\d{1,10}$/.test(value) || Number(value) < min || Number(value) > max)
      throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`);
    return Number(value);
  };

export function parseUrl(value: string): string {
  if (!isWebAddress(value))
    throw new InvalidArgumentError('It must be an http:// or https:// URL without a password in it.');
  return value;
}

export function parseFolderUrl(value: string): string {
  const folder = attachmentsFolderOf(value);
  if (folder === null)
    throw new InvalidArgumentError('It must be an https:// URL without a password or a query in it.');
  return folder;
}

export function parseOnOff(value: string): boolean {
  if (value !== 'on' && value !== 'off') throw new InvalidArgumentError('It must be on or off.');
  return value === 'on';
}

/** A date-time with a zone, as the API takes it. */
export function parseTime(value: string): string {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d.*(?:Z|[+-]\d\d:?\d\d)$/.test(value) || Number.isNaN(Date.parse(value)))
    throw new InvalidArgumentError('It must be a date and time with a zone, for example 2026-11-21T10:00:00Z.');
  return value;
}

const UNIT_MS = { h: HOUR_MS, d: DAY_MS, w: 7 * DAY_MS, y: 365 * DAY_MS } as const;

/** `Date.parse` would read it in the zone of the machine. */
const isDateTimeWithoutZone = (value: string): boolean => /T[\d:.]+$/.test(value);

/** `90d`, a date (its midnight in UTC) or a date-time, in UTC if it names no zone; NaN if it is none of these. */
function timeOf(value: string, now: number, direction: 1 | -1): number {
  const [, amount, unit] = /^(\d{1,5})([hdwy])$/.exec(value) ?? [];
  if (amount) return now + direction * Number(amount) * UNIT_MS[unit as keyof typeof UNIT_MS];
  if (!/^\d{4}-\d\d-\d\d(?:T|$)/.test(value)) return Number.NaN;
  return Date.parse(isDateTimeWithoutZone(value) ? `${value}Z` : value);
}

/**
 * A time from now (`90d`, `12h`, `4w`, `1y`), a date (its midnight in UTC) or a date-time, in UTC if it names no zone.
 * It must be in the future.
 */
export function parseExpiry(value: string, now: number = systemClock.now()): Date {
  const time = timeOf(value, now, 1);
  if (Number.isNaN(time))
    throw new InvalidArgumentError('It must be a time from now (12h, 90d, 4w, 1y) or a date (2027-01-31).');
  if (time <= now) throw new InvalidArgumentError('It must be in the future.');
  return new Date(time);
}

/** The same before now. It must be in the past. */
export function parseSince(value: string, now: number = systemClock.now()): Date {
  const time = timeOf(value, now, -1);
  if (Number.isNaN(time))
    throw new InvalidArgumentError('It must be a time before now (12h, 60d, 4w, 1y) or a date (2026-09-22).');
  if (time >= now) throw new InvalidArgumentError('It must be in the past.');
  return new Date(time);
}
