/** From the files of a request and its query to one upload, whatever the format. */

import type { AttachmentsPlace } from '../../domain/attachments.ts';
import type { Run } from '../../domain/columns.ts';
import { UPLOAD_EXECUTIONS_MAX } from '../../domain/limits.ts';
import { mergeRejections } from '../../domain/rejections.ts';
import { InvalidUpload, UploadTooLarge } from '../../formats/errors.ts';
import type { ReportFormat } from '../../formats/format.ts';
import { readReport } from '../../formats/recognise.ts';
import { Report } from '../../formats/report.ts';
import type { ParsedUpload } from '../../formats/upload.ts';
import type { ReportFile } from './files.ts';
import { type ReportQuery, runOf } from './query.ts';

/** One bad file refuses the whole request, so that correcting it and sending everything again is always right. */
export async function parseReports(
  format: ReportFormat,
  files: readonly ReportFile[],
  query: ReportQuery,
  executionsMax = UPLOAD_EXECUTIONS_MAX,
): Promise<ParsedUpload> {
  const uploads: ParsedUpload[] = [];
  let left = executionsMax;
  for (const file of files) {
    const upload = await named(file, () => parseFile(format, file, files.length > 1, query, left));
    left -= upload.runs.reduce((sum, { executions }) => sum + executions.length, 0);
    const prefix = file.name !== null && files.length > 1 ? `${file.name}: ` : '';
    uploads.push({ ...upload, warnings: upload.warnings.map((warning) => prefix + warning) });
  }
  return {
    runs: uploads.flatMap(({ runs }) => runs),
    rejections: mergeRejections(uploads.flatMap(({ rejections }) => rejections)),
    warnings: uploads.flatMap(({ warnings }) => warnings),
    isCutShort: uploads.some(({ isCutShort }) => isCutShort),
  };
}

function parseFile(
  format: ReportFormat,
  { name, body }: ReportFile,
  isOneOfSeveral: boolean,
  query: ReportQuery,
  executionsMax: number,
): Promise<ParsedUpload> {
  // Without a name the content is what tells one report from another: the same bytes again count nothing.
  const digest = `sha256:${new Bun.CryptoHasher('sha256').update(body).digest('hex')}`;
  const ownName = name ?? digest;
  const reportName =
    query.report === undefined ? ownName : isOneOfSeveral ? `${query.report}/${ownName}` : query.report;
  return parseReport(format, body, {
    run: runOf(query, digest),
    reportName,
    executionsMax,
    startedAtMs: query.started_at,
    attachments: placeOf(query),
  });
}

const placeOf = ({
  attachments_url: url,
  attachments_root: root,
  attachments_from: from,
}: ReportQuery): AttachmentsPlace | undefined => (url === undefined ? undefined : { url, root, from });

export interface ReportOptions {
  run: Run;
  /** Tells the reports of a run apart: a file's path, a shard. */
  reportName: string;
  executionsMax?: number;
  /** When the tests began, in milliseconds since the epoch; undefined leaves the report's times as they are. */
  startedAtMs?: number | undefined;
  /** Where the files that it names can be read; absent: only addresses in the report are linked. */
  attachments?: AttachmentsPlace | undefined;
}

/** The executions of one report. Throws InvalidUpload and UploadTooLarge. */
export async function parseReport(
  format: ReportFormat,
  body: Uint8Array,
  { run, reportName, executionsMax = UPLOAD_EXECUTIONS_MAX, startedAtMs, attachments }: ReportOptions,
): Promise<ParsedUpload> {
  const { hasFilesBeside } = format;
  const source = sourceOf(format, run, reportName);
  const report = new Report({ source, executionsMax, attachments, hasFilesBeside });
  await readReport(format, body, report);
  return report.toUpload(run, startedAtMs);
}

/** Identifies a report when it is resent. Stored claims depend on it, so it never changes. */
const sourceOf = ({ name }: ReportFormat, run: Run, reportName: string): string =>
  JSON.stringify([name, run.pipeline_name, run.job_name, run.run_id, run.run_attempt, reportName]);

/** Adds the name of the file to errors about it. */
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
