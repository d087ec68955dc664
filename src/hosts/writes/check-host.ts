/** What the check of a commit needs of a repository host: one file in the folder of each. */
import type { CommitCheck } from '../../domain/commit-check.ts';

/** Where in the repository a test failed. */
export interface CheckAnnotation {
  /** From the root of the repository. */
  path: string;
  /** From 1. */
  line: number;
  level: 'failure' | 'warning';
  /** Both are plain text. */
  title: string;
  message: string;
}

export interface WantedCheck extends CommitCheck {
  /** They are added to those that other CI jobs have written. */
  annotations: readonly CheckAnnotation[];
}

/** `created`, `updated`: what is there may differ by now, so look again. */
export type CheckWritten = 'created' | 'updated' | 'unchanged';

/** One commit there, as one token sees it. */
export interface CheckHost {
  /** `the check of 1111111`, `the status of 1111111` */
  readonly subject: string;
  /** Brings the one check of the commit to what is wanted. Throws a HostError. */
  write(wanted: WantedCheck): Promise<CheckWritten>;
}

/** Of the check run or the status. */
export const CHECK_NAME = 'ci-insights';
