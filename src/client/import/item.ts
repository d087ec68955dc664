/** What an import takes, whatever it comes from: reports with their runs and times, and pull requests. */
import type { UploadQuery } from '../upload-query.ts';

/** A report of the past. */
export interface ImportedReport {
  kind: 'report';
  /** Names it within its source: the same in every import of it. */
  key: string;
  /** How messages name it. */
  name: string;
  /** The format of the report, if the source says it; otherwise its content tells. */
  format: string | undefined;
  /** The run, and the name of the report within it. */
  query: UploadQuery;
  /** When it would have arrived: after its tests ended. Milliseconds since the epoch. */
  arrivedAt: number;
  /** Throws what is wrong with it. */
  read(): Promise<Uint8Array>;
}

/** A pull request as the service takes it (`PUT …/pull-requests`). */
export interface ImportedPullRequest {
  number: number;
  id: number;
  title: string;
  author: { id: number; login: string } | null;
  base_ref: string | null;
  head_ref: string | null;
  head_commit: string | null;
  merge_commit: string | null;
  updated_at: string;
  /** For the event log; absent of what was merged before the import's time. */
  merged_at?: string | undefined;
  /** The login of who merged it, where the host says so. */
  merged_by?: string | undefined;
}

export type ImportItem =
  | ImportedReport
  | { kind: 'pull_request'; key: string; pullRequest: ImportedPullRequest }
  | { kind: 'left_out'; key: string; name: string; reason: string }
  /** Everything before it belongs together, and need not be looked at again once it was taken. */
  | { kind: 'done'; key: string };

/** What an import reads from, oldest results first: then each is judged once. */
export interface ImportSource {
  /** Names it in the receipt and in the state: an import continues with the same source only. */
  name: string;
  /** Reports as far as they are known before, for the estimate. */
  expected: number | undefined;
  items(isDone: (key: string) => boolean): AsyncIterable<ImportItem>;
}
