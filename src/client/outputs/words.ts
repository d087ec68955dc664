/** The words of every output of `gate`. Pure. */

import { inLog } from '../../domain/foreign-text.ts';
import { grouped } from '../../domain/grouped-number.ts';
import type { Reason, Verdict } from '../gate/decision.ts';
import type { GateResult, JudgedTest } from '../gate/result.ts';
import { count } from '../output.ts';

export const VERDICT_WORDS: Readonly<Record<Verdict, string>> = {
  new: 'new',
  unknown: 'no verdict',
  broken: 'broken on main',
  known_flaky: 'known flaky',
  infrastructure: 'infrastructure',
  quarantined: 'quarantined',
};

const REASONS: Readonly<Record<Reason, string>> = {
  passed: 'The job passes.',
  excused: 'The job passes: every failure is excused.',
  failed: 'The job fails.',
  crashed: 'The job fails: its command crashed, which is never excused.',
  other_code: 'The job fails: its command ended with a code that says more than "tests failed" (--failure-codes).',
  no_tests: 'The job fails: there is no report with a test, which is never excused.',
  trouble: 'The job fails: a report is not whole, which is never excused.',
  unexplained: 'The job fails: its command failed, but no test in the reports did.',
};

/** `3 of 211 tests failed: 1 new, 2 quarantined.` */
export function countSentence({ tests, failures }: GateResult): string {
  if (failures.length === 0) return `None of ${count(tests, 'test')} failed.`;
  const words = Object.entries(VERDICT_WORDS)
    .map(([verdict, word]) => ({ word, times: failures.filter((test) => test.verdict === verdict).length }))
    .filter(({ times }) => times > 0)
    .map(({ word, times }) => `${grouped(times)} ${word}`);
  return `${grouped(failures.length)} of ${count(tests, 'test')} failed: ${words.join(', ')}.`;
}

export function resultSentence({ decision, failures }: GateResult): string {
  if (decision.reason !== 'failed') return REASONS[decision.reason];
  const blocking = failures.filter(({ isExcused }) => !isExcused).length;
  const subject =
    blocking === failures.length
      ? blocking === 1
        ? 'its failure'
        : `its ${blocking} failures`
      : count(blocking, 'failure');
  return `The job fails: ${subject} ${blocking === 1 ? 'is' : 'are'} not excused.`;
}

/** `owned by @acme/cart, dev@acme.com`; null without an owner. */
export const ownedBy = ({ owners }: JudgedTest): string | null =>
  owners.length === 0 ? null : `owned by ${owners.map(inLog).join(', ')}`;

const MESSAGE_LENGTH_MAX = 300;

/** `AssertionError: expected 110, got 111`, on one line; null if the report does not say why the test failed. */
export function exceptionOf({ exceptionType, exceptionMessage }: JudgedTest): string | null {
  const message = exceptionMessage === null ? null : shortened(inLog(exceptionMessage.trim()));
  const type = exceptionType === null ? null : inLog(exceptionType);
  if (type === null || message === null) return type ?? message;
  return message.startsWith(type) ? message : `${type}: ${message}`;
}

const shortened = (text: string): string => {
  const characters = [...text];
  return characters.length <= MESSAGE_LENGTH_MAX ? text : `${characters.slice(0, MESSAGE_LENGTH_MAX).join('')}…`;
};
