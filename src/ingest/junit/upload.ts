/** From the reports of a request and its query to one upload (design §6 "Gateway"). */

import { shortBranch } from '../../domain/default-branch.ts';
import { UNKNOWN, UPLOAD_EXECUTIONS_MAX } from '../../domain/limits.ts';
import { mergeRejections } from '../../domain/rejections.ts';
import type { Run } from '../../queue/test-runs.ts';
import { InvalidUpload, UploadTooLarge } from '../errors.ts';
import { headOf } from '../ref.ts';
import type { ParsedUpload } from '../upload.ts';
import type { ReportFile } from './files.ts';
import { parseJunit } from './parse.ts';

/** What the query says of the run; undefined where it says nothing. */
export interface JunitQuery {
  pipeline_name: string | undefined;
  job_name: string | undefined;
  run_id: string | undefined;
  run_attempt: number | undefined;
  commit: string | undefined;
  branch: string | undefined;
  pull_request: number | undefined;
  default_branch: string | undefined;
  /** Milliseconds since the epoch. */
  started_at: number | undefined;
  report: string | undefined;
}

/** One bad file refuses all, so that correcting it and sending all again is always right. */
export async function parseReports(
  files: readonly ReportFile[],
  query: JunitQuery,
  executionsMax = UPLOAD_EXECUTIONS_MAX,
): Promise<ParsedUpload> {
  const uploads: ParsedUpload[] = [];
  let left = executionsMax;
  for (const file of files) {
    const upload = await named(file, () => parseReport(file, files.length > 1, query, left));
    left -= upload.runs.reduce((sum, { executions }) => sum + executions.length, 0);
    const prefix = file.name !== null && files.length > 1 ? `${file.name}: ` : '';
    uploads.push({ ...upload, warnings: upload.warnings.map((warning) => prefix + warning) });
  }
  return {
    runs: uploads.flatMap(({ runs }) => runs),
    rejections: mergeRejections(uploads.flatMap(({ rejections }) => rejections)),
    warnings: uploads.flatMap(({ warnings }) => warnings),
  };
}

function parseReport(
  { name, body }: ReportFile,
  isOneOfSeveral: boolean,
  query: JunitQuery,
  executionsMax: number,
): Promise<ParsedUpload> {
  // Without a name the content is what tells one report from another: the same bytes again count nothing.
  const digest = `sha256:${new Bun.CryptoHasher('sha256').update(body).digest('hex')}`;
  const own = name ?? digest;
  const report = query.report === undefined ? own : isOneOfSeveral ? `${query.report}/${own}` : query.report;
  return parseJunit(body, {
    run: runOf(query, digest),
    report,
    executionsMax,
    ...(query.started_at === undefined ? {} : { startedAtMs: query.started_at }),
  });
}

function runOf(query: JunitQuery, digest: string): Run {
  const head = headOf(query.branch ?? null);
  return {
    pipeline_name: query.pipeline_name ?? UNKNOWN,
    job_name: query.job_name ?? UNKNOWN,
    run_id: query.run_id ?? digest,
    run_attempt: query.run_attempt ?? 1,
    commit: query.commit ?? null,
    branch: head.branch,
    base_ref: null,
    pull_request: query.pull_request ?? head.pullRequest,
    default_branch: query.default_branch === undefined ? null : shortBranch(query.default_branch),
    framework: null,
    framework_version: null,
    language: null,
    job_url: null,
  };
}

/** Says of which file a sentence is. */
async function named<T>({ name }: ReportFile, parse: () => Promise<T>): Promise<T> {
  try {
    return await parse();
  } catch (error) {
    if (name === null) throw error;
    if (error instanceof InvalidUpload) throw new InvalidUpload(`${name}: ${error.message}`, { cause: error });
    if (error instanceof UploadTooLarge) throw new UploadTooLarge(`${name}: ${error.message}`, { cause: error });
    throw error;
  }
}
