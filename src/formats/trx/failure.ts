/** The failure of a result: TRX has a message and a stack trace, and the message contains the type of the exception. */

import { cutFailure } from '../report.ts';
import type { ParsedFailure } from '../upload.ts';

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
