/** Where the results of an upload come from, and who sent them: what people look for in the list of uploads. */

/** Null: not known, or not the same in all parts of the upload. */
export interface UploadOrigin {
  pipelineName: string | null;
  jobName: string | null;
  runId: string | null;
  runAttempt: number | null;
  commit: string | null;
  branch: string | null;
  pullRequest: number | null;
  /** The format of its reports. */
  format: string | null;
  /** The name of the key, or of the person, that sent it. */
  sender: string | null;
}

export const NO_ORIGIN: UploadOrigin = {
  pipelineName: null,
  jobName: null,
  runId: null,
  runAttempt: null,
  commit: null,
  branch: null,
  pullRequest: null,
  format: null,
  sender: null,
};

/** An upload that was refused as a whole. */
export interface Refusal extends UploadOrigin {
  owner: string;
  repository: string;
  /** The sentence of its answer. */
  reason: string;
}

/** Refused uploads that are kept, those that are alike as one. */
export const REFUSALS_OF_REPOSITORY_MAX = 100;
export const REFUSALS_OF_OWNER_MAX = 1_000;
/** Why an upload was refused, in a list: what is longer is cut. */
export const REFUSAL_REASON_LENGTH_MAX = 1_000;
