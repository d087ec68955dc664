/** The failures of a cause in a test: what it has shown, then what it would show. */
import { expect, test } from 'bun:test';
import { failuresOfTest } from '../../src/domain/cause-failures.ts';
import { FINGERPRINT_VERSION, normaliseMessage } from '../../src/domain/fingerprint.ts';
import { failureIdOf } from '../../src/domain/identity.ts';
import { QUARANTINE_FAILURES_MAX } from '../../src/domain/limits.ts';

const TEST = '8c0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c11';
const message = (text: string, isGeneric = false) => ({ exceptionType: 'E', message: text, isGeneric });
const idOf = (text: string) => failureIdOf(TEST, FINGERPRINT_VERSION, 'E', normaliseMessage(text));

test('a message of the cause gives the group that an upload with it would get', () => {
  const reported = 'connect to 10.0.0.1:5432 refused by the ledger';
  expect(failuresOfTest(TEST, [], [message(normaliseMessage(reported))])).toEqual([idOf(reported)]);
});

test('a generic message belongs to the cause only where the test has shown it', () => {
  expect(failuresOfTest(TEST, [], [message('timeout', true)])).toEqual([]);
  expect(failuresOfTest(TEST, [idOf('timeout')], [message('timeout', true)])).toEqual([idOf('timeout')]);
});

test('of many, those that the test has shown come first, and each is there once, in order', () => {
  const messages = Array.from({ length: 2 * QUARANTINE_FAILURES_MAX }, (_, i) =>
    message(`refused by host ${'x'.repeat(i)}`),
  );
  const shown = [idOf(messages.at(-1)?.message ?? ''), idOf('no more such')];
  const ids = failuresOfTest(TEST, shown, messages);
  expect(ids).toHaveLength(QUARANTINE_FAILURES_MAX);
  expect(ids).toEqual([...new Set(ids)].sort());
  expect(ids).toEqual(expect.arrayContaining(shown));
});
