/** Pseudonyms of people whose names are forgotten. */
import { hash } from 'node:crypto';
import { z } from 'zod';

const PERSON_NAME_LENGTH_MAX = 255;
/** A login, or the name of an actor. */
export const personNameSchema = z
  .string()
  .trim()
  .max(PERSON_NAME_LENGTH_MAX, { error: `is longer than ${PERSON_NAME_LENGTH_MAX} characters` })
  .refine((name) => comparedName(name) !== '', { error: 'is empty' });
const DIGITS = 12;

/** Names are compared without case, and without the `@` of a login. */
export const comparedName = (name: string): string => name.replace(/^@/, '').toLowerCase();

/**
 * What stands for a person. The same for a name in any case, so that their changes can still be told from those of others; of
 * another installation it is another.
 *
 * @param installationId no one else knows it, so a pseudonym cannot be looked up by trying names
 */
export const pseudonymOf = (installationId: string, name: string): string =>
  `person-${hash('sha256', `${installationId}\0${comparedName(name)}`, 'hex').slice(0, DIGITS)}`;

/**
 * The same value with every text replaced that is a name as a whole. A name within a longer text stays.
 *
 * @param replacementOf undefined for what is not to be replaced; the `@` of a login is left out before and put back
 */
export function replaceNames<T>(value: T, replacementOf: (name: string) => string | undefined): T;
export function replaceNames(value: unknown, replacementOf: (name: string) => string | undefined): unknown {
  if (typeof value === 'string') {
    const replacement = replacementOf(value.replace(/^@/, ''));
    return replacement === undefined ? value : `${value.startsWith('@') ? '@' : ''}${replacement}`;
  }
  if (Array.isArray(value)) return value.map((one) => replaceNames(one, replacementOf));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, replaceNames(one, replacementOf)]));
}

/** Matches a name as a whole text in JSON, in any case; for PostgreSQL and ClickHouse, whose flags are set elsewhere. */
export const patternInJson = (name: string): string =>
  `"(@?)${escaped(JSON.stringify(comparedName(name)).slice(1, -1))}"`;
/** Matches a text that is the name. */
export const patternOfText = (name: string): string => `^(@?)${escaped(comparedName(name))}$`;

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
