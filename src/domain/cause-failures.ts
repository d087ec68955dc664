/** Which failures of a test belong to a cause, as a quarantine names them: by failure groups. Pure. */
import { FINGERPRINT_VERSION } from './fingerprint.ts';
import { failureIdOf } from './identity.ts';
import { QUARANTINE_FAILURES_MAX } from './limits.ts';
import { orderedFailureIds } from './quarantine-scope.ts';

export interface CauseMessage {
  exceptionType: string;
  /** Normalised. */
  message: string;
  /** A generic message belongs to the cause only where a test of it has shown it. */
  isGeneric: boolean;
}

/**
 * The groups that the test has shown, and those that it would show with a message of another test. At most
 * {@link QUARANTINE_FAILURES_MAX}, those that come first.
 *
 * @param groups of the test, the newest first
 * @param messages of the cause, the newest first
 */
export const failuresOfTest = (
  testId: string,
  groups: readonly string[],
  messages: readonly CauseMessage[],
): string[] => {
  const ids = [
    ...groups,
    ...messages
      .filter(({ isGeneric }) => !isGeneric)
      .map(({ exceptionType, message }) => failureIdOf(testId, FINGERPRINT_VERSION, exceptionType, message)),
  ];
  return orderedFailureIds([...new Set(ids)].slice(0, QUARANTINE_FAILURES_MAX));
};
