/** How a test ended, from the attributes of a JUnit report. */
import type { Status } from '../../domain/status.ts';
import { statusOfWord } from '../../domain/status-words.ts';
import type { XmlAttributes } from '../xml.ts';

/**
 * The status of a test without an element that says it. GoogleTest has two words for one test, so the worse counts:
 * `status="run" result="skipped"`.
 */
export function statedStatus({ status, result, outcome }: XmlAttributes): { status: Status; unknown: string[] } {
  const words = [status, result, outcome].flatMap((text) => text?.trim() || []);
  const statuses = words.map(statusOfWord);
  const found = (['failed', 'skipped'] as const).find((one) => statuses.includes(one)) ?? 'passed';
  return { status: found, unknown: words.filter((_, i) => statuses[i] === undefined) };
}

/** node:test runs what is to be done, and expects that it fails. */
export const isTodo = ({ type }: XmlAttributes): boolean => type?.trim().toLowerCase() === 'todo';

const THROWN = /(?:Error|Exception|Failure|Failed)$/;
/** Thrown by a test that does not want to run. */
const WANTS_NO_RUN = /skip|assum|abort|ignor|pending|todo|xfail/i;

/**
 * TestNG marks a failed attempt that it runs again as skipped. What was thrown tells it from any other skip; Surefire
 * leaves only its message, and has other names for other tests. Null for a skip.
 */
export function skipReason(
  { type, message }: XmlAttributes,
  isOfSurefire: boolean,
): { type: string | null; message: string | null } | null {
  const isThrown = type ? THROWN.test(type) && !WANTS_NO_RUN.test(type) : isOfSurefire && Boolean(message);
  return isThrown ? { type: type || null, message: message || null } : null;
}

/**
 * CTest calls tests skipped that it could not start, such as one without its program, and ends with an error for them. It
 * has other reasons for those that it was told to skip.
 */
export const isNotStarted = (test: XmlAttributes, { message = '' }: XmlAttributes): boolean =>
  test.status === 'notrun' && test.classname === test.name && message !== '' && !message.startsWith('SKIP_');

/** pytest writes a second record for a test that has failed and whose teardown fails, too. */
export const isStrayError = ({ message = '' }: XmlAttributes): boolean =>
  message.startsWith('failed on teardown with ');
