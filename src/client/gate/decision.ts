/**
 * Whether a CI job passes, from what its tests did and what is known about their failures. Pure.
 *
 * A failure is excused only by a verdict that the policy names. What is not a failure of a test (a crash, a report that is
 * missing or cut short) is never excused, and neither is a failure that is new or of which nothing is known.
 */

/**
 * The service's verdicts on a failed test of a commit, and `unknown`: the service gave none.
 *
 * In the order in which they are shown: what needs attention comes first.
 */
export const VERDICTS = ['new', 'unknown', 'broken', 'known_flaky', 'infrastructure', 'quarantined'] as const;
export type Verdict = (typeof VERDICTS)[number];

/** Failures that a policy may excuse, besides quarantined ones. */
export const EXCUSES = { quarantined: 'quarantined', flaky: 'known_flaky', broken: 'broken' } as const;
export type Excuse = keyof typeof EXCUSES;

export const isExcused = (verdict: Verdict, policy: ReadonlySet<Excuse>): boolean =>
  Object.entries(EXCUSES).some(([excuse, excused]) => excused === verdict && policy.has(excuse as Excuse));

export interface Evidence {
  /** How the command ended; null if an earlier step ran the tests. */
  command: { code: number; signal: string | null } | null;
  /** Codes with which the command says that tests failed, and nothing worse. */
  failureCodes: readonly number[];
  /** Tests in all reports together. */
  tests: number;
  /** A report cannot be read or is cut short, or a suite went wrong besides its tests. */
  hasTrouble: boolean;
  /** One for each failed test. */
  verdicts: readonly Verdict[];
}

/**
 * - `passed`: nothing failed, or the command says so
 * - `excused`: every failure is excused
 * - `failed`: at least one failure is not excused
 * - `crashed`: the command could not run, or a signal ended it
 * - `no_tests`: there is no report, or none with a test
 * - `trouble`: see {@link Evidence.hasTrouble}
 * - `unexplained`: the command failed, but no test did
 * - `other_code`: every failure is excused, but the command ended with a code that says more than "tests failed"
 */
export type Reason =
  | 'passed'
  | 'excused'
  | 'failed'
  | 'crashed'
  | 'other_code'
  | 'no_tests'
  | 'trouble'
  | 'unexplained';

/** A shell gives 126 and 127 when it cannot run a command, and 128 and the signal's number when a signal ended it. */
export const CODE_CRASHED_MIN = 126;

export interface Decision {
  /** The exit code. */
  code: number;
  reason: Reason;
}

export function decide(
  { command, failureCodes, tests, hasTrouble, verdicts }: Evidence,
  policy: ReadonlySet<Excuse>,
): Decision {
  // With a command its own code stands, unless everything is excused.
  const failure = command?.code || 1;
  if (command !== null && (command.signal !== null || command.code >= CODE_CRASHED_MIN))
    return { code: failure, reason: 'crashed' };
  if (command?.code === 0) return { code: 0, reason: 'passed' };
  if (tests === 0) return { code: failure, reason: 'no_tests' };
  if (hasTrouble) return { code: failure, reason: 'trouble' };
  if (verdicts.length === 0)
    return command === null ? { code: 0, reason: 'passed' } : { code: failure, reason: 'unexplained' };
  if (!verdicts.every((verdict) => isExcused(verdict, policy))) return { code: failure, reason: 'failed' };
  return command !== null && !failureCodes.includes(command.code)
    ? { code: failure, reason: 'other_code' }
    : { code: 0, reason: 'excused' };
}
