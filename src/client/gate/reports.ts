/** The reports of a job, read with the parsers of the service: a test has the same name here as there. */
import { stat } from 'node:fs/promises';
import type { Attachment, AttachmentsPlace } from '../../domain/attachments.ts';
import { runSchema } from '../../domain/columns.ts';
import { decisiveReportOf } from '../../domain/decisive-report.ts';
import { failingLine } from '../../domain/failing-line.ts';
import { UPLOAD_EXECUTIONS_MAX } from '../../domain/limits.ts';
import type { ReportFormat } from '../../formats/format.ts';
import { Report } from '../../formats/report.ts';
import { folderOfReport } from '../attachments.ts';
import { readReport as readBody } from '../report-body.ts';

export interface FailedTest {
  name: string;
  /** The report that holds it. */
  file: string;
  /** Path of the test's own source, as the report names it. */
  sourcePath: string | null;
  /** Where its last failure is in that file, from 1; null if its stack does not say. */
  line: number | null;
  exceptionType: string | null;
  exceptionMessage: string | null;
  attachments: Attachment[];
}

export interface ReadReports {
  tests: number;
  /** One for each name: executions of one test are judged together. */
  failed: FailedTest[];
  /** Sentences about reports that cannot be read, are cut short, or report trouble besides failed tests. */
  troubles: string[];
}

/**
 * Never throws: a file that cannot be read is trouble.
 *
 * @param attachments where the files that reports name can be read
 */
export async function readReports(
  format: ReportFormat,
  files: readonly string[],
  attachments?: AttachmentsPlace,
): Promise<ReadReports> {
  const failed = new Map<string, FailedTest>();
  const troubles: string[] = [];
  let tests = 0;
  for (const file of files) {
    // A test that has passed in the end has not failed.
    if (files.includes(decisiveReportOf(file) ?? '')) continue;
    try {
      const read = await readReport(format, file, attachments && { ...attachments, from: folderOfReport(file) });
      tests += read.tests;
      for (const test of read.failed) if (!failed.has(test.name)) failed.set(test.name, test);
      troubles.push(...read.troubles.map((sentence) => `${file}: ${sentence}`));
    } catch (error) {
      troubles.push(`${file}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return { tests, failed: [...failed.values()], troubles };
}

/** Only the tests matter here, so any run will do. */
const RUN = runSchema.parse({ pipeline_name: 'gate', job_name: 'gate', run_id: 'gate' });

async function readReport(
  format: ReportFormat,
  file: string,
  attachments: AttachmentsPlace | undefined,
): Promise<ReadReports> {
  const { hasFilesBeside } = format;
  const report = new Report({ source: file, executionsMax: UPLOAD_EXECUTIONS_MAX, attachments, hasFilesBeside });
  const { readReport: readAs } = await import('../../formats/recognise.ts');
  await readAs(format, await readBody(format, file), report);
  const { runs, rejections, warnings } = report.toUpload(RUN, undefined);
  const executions = runs.flatMap((run) => run.executions);
  const failed = executions
    .filter(({ status }) => status === 'failed')
    .map(({ name, filepath, failures }) => ({
      name,
      file,
      sourcePath: filepath,
      line: failingLine(failures.at(-1)?.stacktrace ?? null, filepath),
      exceptionType: failures.at(-1)?.type ?? null,
      exceptionMessage: failures.at(-1)?.message ?? null,
      attachments: failures.flatMap((failure) => failure.attachments ?? []),
    }));
  const troubles = [
    ...(report.isPartial ? warnings : []),
    ...rejections.map(({ reason, count }) => `${count} rejected: ${reason}`),
  ];
  return { tests: executions.length, failed, troubles };
}

/** Tells whether a file was written again. */
export async function fingerprintsOf(files: readonly string[]): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const file of files) {
    const { mtimeMs, size, ino } = await stat(file);
    found.set(file, `${mtimeMs} ${size} ${ino}`);
  }
  return found;
}
