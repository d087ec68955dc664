/** The result of `gate`, for every kind of output. */
import type { Attachment } from '../../domain/attachments.ts';
import type { UploadResult } from '../upload.ts';
import type { Decision, Verdict } from './decision.ts';

export interface JudgedTest {
  name: string;
  verdict: Verdict;
  isExcused: boolean;
  /** Why the service gave the verdict; null if it does not say. */
  because: string | null;
  /** In which legs it fails, such as `fails only with os=windows`; null if the service does not know. */
  where: string | null;
  /** Who owns the test; empty if no one does, or the service does not say. */
  owners: string[];
  exceptionType: string | null;
  exceptionMessage: string | null;
  sourcePath: string | null;
  /** Where it failed in that file, from 1; null if its stack does not say. */
  line: number | null;
  /** Links to what was kept of its attempts. */
  attachments: Attachment[];
  /** Null for a test that the service does not know. */
  historyUrl: string | null;
}

export interface GateResult {
  decision: Decision;
  /** Tests in the reports. */
  tests: number;
  /** Whose fault the failures are, in the sentence that the pages of the commit show; null without a failure. */
  summary: string | null;
  /** Begins with those that need attention. */
  failures: JudgedTest[];
  /** Sentences about reports that cannot be trusted. */
  troubles: string[];
  /** Sentences about what could not be asked or sent. */
  notices: string[];
  uploads: UploadResult[];
}
