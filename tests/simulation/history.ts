/**
 * Histories on which rules of judgement are tried: runs, in order of time, and what a set of rules must answer about them.
 */
import type { Health } from '../../src/domain/status.ts';

/** The failure of one execution. */
export interface Trouble {
  message: string;
  /** The runner tried again and it passed: the execution passed, and is flaky within its run. */
  isPassedOnRetry: boolean;
}

/** One attempt of a CI job. Identities (test, pipeline, CI job) are numbers from 0. */
export interface Run {
  /** Id of the run; its attempts share it. */
  id: string;
  attempt: number;
  job: number;
  commit: string;
  isDefaultBranch: boolean;
  /** When its executions finished; milliseconds since the epoch. */
  at: number;
  /** The identities that ran and were not skipped. */
  identities: ArrayLike<number>;
  /** Identities that failed, or passed only on a retry. */
  troubles: ReadonlyMap<number, Trouble>;
}

/** A set of rules under trial. It sees runs as they finish, and nothing of the truth. */
export interface Rules {
  readonly name: string;
  takeIn(run: Run): void;
  /** Called before verdicts are asked for; `now` never goes back. */
  settle(now: number): void;
  health(identity: number): Health;
  /** Whether a flaky test is worth an alarm at `now`. Rules without this distinction leave it out. */
  isActive?(identity: number, now: number): boolean;
  /** How likely that is right, where the rules say so. */
  probability?(identity: number): number;
  /** Whether a test that was flaky or broken has surely recovered. Where it is missing: whether it is called healthy. */
  isSurelyHealthy?(identity: number): boolean;
  /** Whether the test would be quarantined automatically now as flaky. */
  isQuarantined(identity: number): boolean;
}
