/** Text from outside: whether it can be stored as it is, how long it is, and how it is cut when it is too long. */

export interface TextProblem {
  /** Reads on after what the text is: "the test name is empty". */
  reason: string;
  type: 'invalid_value' | 'too_short' | 'too_long';
}

/** The fault of a text that should have `min` to `max` code points, or null. */
export function textProblem(text: string, min: number, max: number): TextProblem | null {
  const malformed = malformedReason(text);
  if (malformed) return { reason: malformed, type: 'invalid_value' };
  if (text.length < min)
    return { reason: min === 1 ? 'is empty' : `is shorter than ${min} characters`, type: 'too_short' };
  return isLongerThan(text, max) ? { reason: tooLong(max), type: 'too_long' } : null;
}

export const tooLong = (max: number): string => `is longer than ${max} characters`;

/** The reason why a text cannot be stored as it is (NUL, half of a surrogate pair), or null. */
export function malformedReason(text: string): string | null {
  if (text.includes('\0')) return 'holds a NUL character';
  return text.isWellFormed() ? null : 'holds half of a surrogate pair';
}

/** Whether the text holds more than so many code points; counts no further than needed. */
export function isLongerThan(text: string, codePoints: number): boolean {
  // Code points are never more than UTF-16 units: most texts need no count.
  if (text.length <= codePoints) return false;
  let count = 0;
  for (const _ of text) if (++count > codePoints) return true;
  return false;
}

/** At most so many code points of a name that is only shown, fit to be stored. */
export function shownName(text: string, codePoints: number): string {
  const short = isLongerThan(text, codePoints)
    ? [...text.slice(0, 2 * codePoints)].slice(0, codePoints).join('')
    : text;
  return cleanText(short);
}

/** Bytes kept free for the mark that a cut leaves. */
const MARK_BYTES_MAX = 64;

/**
 * The text in at most `maxBytes` of UTF-8: well-formed, with U+FFFD for NUL. A longer text is cut between two code
 * points and marked. Cutting twice changes nothing: the result fits.
 *
 * @param bytesLeftOut what was left out of the text before: it is cut in any case then
 * @example cutText('x'.repeat(70_000), 65_536) // 'xxx… [cut, 70000 bytes in all]'
 */
export function cutText(text: string, maxBytes: number, bytesLeftOut = 0): string {
  const clean = cleanText(text);
  // A UTF-16 unit is at most three bytes: short texts need no count.
  if (clean.length * 3 <= maxBytes && bytesLeftOut === 0) return clean;
  const bytes = Buffer.byteLength(clean) + bytesLeftOut;
  if (bytes <= maxBytes) return clean;
  const room = Math.max(0, maxBytes - MARK_BYTES_MAX);
  const { read } = new TextEncoder().encodeInto(clean, new Uint8Array(room));
  return `${clean.slice(0, read)}${cutMark(bytes)}`;
}

/** At the end of a text that was cut. */
export const cutMark = (bytes: number): string => `… [cut, ${bytes} bytes in all]`;

/** Well-formed and without NUL, for text that may be changed to be stored. */
export function cleanText(text: string): string {
  const wellFormed = text.isWellFormed() ? text : text.toWellFormed();
  return wellFormed.includes('\0') ? wellFormed.replaceAll('\0', '\uFFFD') : wellFormed;
}
