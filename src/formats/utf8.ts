/** Converts text to UTF-8: Windows PowerShell writes redirected output (`> report.json`) as UTF-16. */

import { isUtf8 } from 'node:buffer';
import type { Report } from './report.ts';

/** Which UTF-16 it is: by its byte order mark or, since the first character is `<` or `{`, by its first bytes. */
export function utf16Of(body: Uint8Array): 'utf-16le' | 'utf-16be' | null {
  const [first, second] = body;
  if ((first === 0xff && second === 0xfe) || (second === 0 && isOpening(first))) return 'utf-16le';
  return (first === 0xfe && second === 0xff) || (first === 0 && isOpening(second)) ? 'utf-16be' : null;
}

const isOpening = (byte: number | undefined): boolean => byte === 0x3c || byte === 0x7b;

export function asUtf8(body: Uint8Array, report: Pick<Report, 'noticeReplaced'>): Uint8Array {
  const utf16 = utf16Of(body);
  if (utf16 !== null) return new TextEncoder().encode(new TextDecoder(utf16).decode(body));
  if (!isUtf8(body)) report.noticeReplaced('utf-8');
  return body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf ? body.subarray(3) : body;
}

/** For messages such as "is cut short at line 12". */
export function lineAt(body: Uint8Array, offset: number): number {
  let line = 1;
  for (let at = body.indexOf(NEWLINE); at >= 0 && at < offset; at = body.indexOf(NEWLINE, at + 1)) line++;
  return line;
}

export const NEWLINE = 0x0a;
