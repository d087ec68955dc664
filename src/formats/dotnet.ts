/**
 * Shared by the reports of .NET: TRX, NUnit's and xUnit.net's. A failure has a message and a stack trace, and the
 * message contains the type of the exception.
 */
import { cutFailure } from './report.ts';
import { parseTimestamp } from './time.ts';
import type { ParsedFailure } from './upload.ts';

/** MSTest writes this before the type. */
const THREW =
  /^(?:Test method \S+ threw exception|Initialization method \S+ threw exception[^:]*|Unable to create instance of class \S+\. Error):\s*/;
/** `System.InvalidOperationException: …` and, by xUnit and NUnit, `System.InvalidOperationException : …` */
const TYPED = /^((?:[A-Za-z_]\w*[.+])*[A-Za-z_]\w*(?:Exception|Error)) ?: ?/;

export function failureOf(message: string, stacktrace: string): ParsedFailure {
  const text = message.trim().replace(THREW, '');
  const type = TYPED.exec(text);
  return cutFailure({
    attempt: 1,
    type: type?.[1] ?? null,
    message: (type ? text.slice(type[0].length) : text).trim() || null,
    stacktrace: stacktrace.trim() || null,
  });
}

/** xUnit includes the class in the name; MSTest and NUnit do not. */
export const nameOf = (ownName: string, className: string): string =>
  className === '' || ownName.startsWith(`${className}.`) ? ownName : `${className}.${ownName}`;

/** A counter of a report, such as how many of its tests failed. */
export const countOf = (text: string | undefined): number => (/^\d{1,9}$/.test(text ?? '') ? Number(text) : 0);

/** Null for the first day of the year 1, which means that the time was not set. */
export const parseTime = (text: string | undefined): number | null =>
  text?.startsWith('0001-01-01') ? null : parseTimestamp(text);
