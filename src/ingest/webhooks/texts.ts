/** Texts of a payload, made to fit what a job and the log hold. */
import { cleanText } from '../../domain/limits.ts';

/** Refs, logins and commits, in UTF-16 units: what a job holds of each. */
export const NAME_LENGTH_MAX = 255;
export const TITLE_LENGTH_MAX = 10_000;
/** Labels, teams, fields. */
export const LABEL_LENGTH_MAX = 1_000;
/** As long as a comment on a host may be. */
export const MESSAGE_LENGTH_MAX = 65_536;

/** Well-formed, without NUL, and at most so many UTF-16 units, cut between two code points. */
export function fit(text: string, lengthMax: number): string {
  const clean = cleanText(text);
  if (clean.length <= lengthMax) return clean;
  const isSplit = /[\uD800-\uDBFF]/.test(clean.charAt(lengthMax - 1));
  return clean.slice(0, isSplit ? lengthMax - 1 : lengthMax);
}

export const fitName = (text: string): string => fit(text, NAME_LENGTH_MAX);
export const fitLabel = (text: string): string => fit(text, LABEL_LENGTH_MAX);
export const fitMessage = (text: string): string => fit(text, MESSAGE_LENGTH_MAX);
