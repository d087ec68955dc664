/** Messages that begin with the type of what was thrown, as many languages write them. */
import { stripVTControlCharacters } from 'node:util';

/** `AssertionError: 1 != 2`, `java.lang.IllegalStateException: closed`. */
const TYPED = /^((?:[A-Za-z_$][\w.$]{0,200})?(?:Error|Exception|Failure|Timeout)): /;

export function typedMessage(text: string | null): { type: string | null; message: string | null } {
  const type = TYPED.exec(text ?? '')?.[1] ?? null;
  return { type, message: (type === null ? text : text?.slice(type.length + 2)) || null };
}

/** Without the colours of a terminal, and null if nothing is left. */
export const plainText = (text: string | null | undefined): string | null =>
  stripVTControlCharacters(text ?? '').trim() || null;
