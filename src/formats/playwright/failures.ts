/** The failures of a test, from its attempts. */
import { stripVTControlCharacters } from 'node:util';
import type { ReportedFailure } from '../attachments.ts';
import { cutFailure } from '../report.ts';
import type { ParsedFailure } from '../upload.ts';
import type { Attempt, ProjectTest, ReportedError } from './schemas.ts';

/** `TypeError: cents is undefined`: the type is a single word. */
const TYPED = /^(\w*(?:Error|Exception)): /;

/** A failure for each attempt that did not end as expected. */
export function failuresOf(test: ProjectTest): ReportedFailure[] {
  if (test.status === 'expected' || test.status === 'skipped') return [];
  const failed = test.results.filter((attempt) => isUnexpected(attempt, test));
  return failed.map((attempt, index) => ({
    ...cutFailure({ attempt: index + 1, ...describe(attempt) }),
    ...(attempt.attachments && { files: attempt.attachments }),
  }));
}

const isUnexpected = ({ status }: Attempt, { expectedStatus }: ProjectTest): boolean =>
  status !== expectedStatus && status !== 'skipped' && status !== 'interrupted';

function describe({ status, error, errors }: Attempt): Omit<ParsedFailure, 'attempt'> {
  const all = errors.map(messageOf).filter((message) => message !== null);
  const message = messageOf(error ?? errors[0] ?? {});
  if (message === null && status === 'passed')
    return { type: null, message: 'Expected to fail, but passed.', stacktrace: null };
  const named = TYPED.exec(message ?? '')?.[1];
  return {
    type: named ?? (status === 'timedOut' ? 'TimeoutError' : null),
    message: (named === undefined ? message : message?.slice(named.length + 2)) ?? null,
    stacktrace: all.join('\n\n') || withoutColours(error?.stack ?? '') || null,
  };
}

/** The text of the error, without the terminal colours that Playwright adds. */
export const messageOf = ({ message, value }: ReportedError): string | null =>
  withoutColours(message ?? value ?? '') || null;

const withoutColours = (text: string): string => stripVTControlCharacters(text).trim();
