/** A node: the failures of one signature, while it does not stay away for long. Nodes are joined to causes (causes.ts). */
import type { Signature } from './cause-signature.ts';

/** The failures of one test with one signature in one run, or some of them. */
export interface FailedInRun {
  signature: Signature;
  testId: string;
  /** Names the pipeline's run. */
  run: string;
  /** The first of them; milliseconds since the epoch. */
  failedAt: number;
  /** The stack frames of the newest failure of this test and signature. */
  frames: readonly string[];
  /** The file of the test; empty if unknown. */
  file: string;
}

export interface Node<F extends FailedInRun = FailedInRun> {
  id: string;
  signature: Signature;
  /** The beginning of the episode, also if that is no longer retained; milliseconds since the epoch. */
  firstAt: number;
  failures: readonly F[];
}
