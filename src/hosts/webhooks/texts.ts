/** Cuts texts of a payload to what a job and the event log accept. */
import { COMMENT_LENGTH_MAX, NAME_LENGTH_MAX } from '../../domain/limits.ts';
import { cleanText } from '../../domain/text.ts';

/** For labels, teams and fields. */
const LABEL_LENGTH_MAX = 1_000;

/** Well-formed, without NUL, and cut between two code points to at most `lengthMax` UTF-16 units. */
export function fit(text: string, lengthMax: number): string {
  const clean = cleanText(text);
  if (clean.length <= lengthMax) return clean;
  const isSplit = /[\uD800-\uDBFF]/.test(clean.charAt(lengthMax - 1));
  return clean.slice(0, isSplit ? lengthMax - 1 : lengthMax);
}

export const fitName = (text: string): string => fit(text, NAME_LENGTH_MAX);
export const fitLabel = (text: string): string => fit(text, LABEL_LENGTH_MAX);
export const fitMessage = (text: string): string => fit(text, COMMENT_LENGTH_MAX);
