/** Which failures a question is about: tests by id or name, those that a report says failed, or those that a log names. */
import { z } from 'zod';
import { runSchema } from '../domain/columns.ts';
import { TEST_NAME_LENGTH_MAX } from '../domain/limits.ts';
import { namedInLog } from '../domain/named-in-log.ts';
import { InvalidUpload, UploadTooLarge } from '../formats/errors.ts';
import type { ReportFormat } from '../formats/format.ts';
import { FORMATS } from '../formats/formats.ts';
import { formatOf, readReport } from '../formats/recognise.ts';
import { Report } from '../formats/report.ts';
import { unprocessable } from '../http/problems.ts';
import { text } from '../http/text.ts';

const TESTS_MAX = 100;
/** Code points; more failed tests than are judged of a commit are not read. */
const REPORT_LENGTH_MAX = 1_000_000;
const LOG_LENGTH_MAX = 100_000;
const REPORT_TESTS_MAX = 20_000;
/** Length in bytes of UTF-8, escaped or not. */
export const QUESTION_BYTES_MAX = 4 * 1024 * 1024;

export const subjectFields = {
  test_ids: z
    .array(z.guid())
    .max(TESTS_MAX)
    .optional()
    .meta({ description: 'Only these tests', example: ['8c0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c11'] }),
  test_names: z
    .array(text(1, TEST_NAME_LENGTH_MAX))
    .max(TESTS_MAX)
    .optional()
    .meta({ description: 'Only tests with these whole names' }),
  report: z
    .strictObject({
      format: z
        .enum(FORMATS.map(({ name }) => name))
        .optional()
        .meta({
          description: 'As the last part of the address of its uploads; by its content if left out',
          example: 'junit',
        }),
      text: z.string().min(1).max(REPORT_LENGTH_MAX).meta({ example: '<testsuites>…</testsuites>' }),
    })
    .optional()
    .meta({ description: 'Only tests that failed in this report. It is read, and stored nowhere' }),
  log: z.string().min(1).max(LOG_LENGTH_MAX).optional().meta({
    description: 'Only tests that this excerpt of a log names, by their whole name or the last part of it',
    example: 'FAILED tests/test_cart.py::test_total',
  }),
};
const subjectSchema = z.object(subjectFields);
type Subjects = z.output<typeof subjectSchema>;

/** What a question is about. */
export interface Asked {
  isAsked(test: { testId: string; testName: string }): boolean;
  /** The tests asked about that are not among those that failed on the commit, each with the reason. */
  missing(failed: readonly { testId: string; testName: string }[]): { test: string; sentence: string }[];
}

/** Throws 422 for a report that cannot be read. */
export async function askedOf(subjects: Subjects, failedNames: readonly string[]): Promise<Asked> {
  const ids = new Set(subjects.test_ids);
  const names = new Set(subjects.test_names);
  const reported = subjects.report ? await failedInReport(subjects.report) : [];
  const isLimited = [subjects.test_ids, subjects.test_names, subjects.report, subjects.log].some(
    (one) => one !== undefined,
  );
  const logged = subjects.log === undefined ? new Set<string>() : namedInLog(subjects.log, failedNames);
  const ofReport = new Set(reported);
  return {
    isAsked: ({ testId, testName }) =>
      !isLimited || ids.has(testId) || names.has(testName) || ofReport.has(testName) || logged.has(testName),
    missing: (failed) => {
      const failedIds = new Set(failed.map(({ testId }) => testId));
      const known = new Set(failed.map(({ testName }) => testName));
      const none = (test: string) => ({ test, sentence: 'No failure of it is stored for this commit.' });
      return [
        ...[...ids].filter((id) => !failedIds.has(id)).map(none),
        ...[...new Set([...names, ...reported])].filter((name) => !known.has(name)).map(none),
      ].slice(0, TESTS_MAX);
    },
  };
}

/** Any run will do: only the names matter. */
const RUN = runSchema.parse({ pipeline_name: 'claims', job_name: 'claims', run_id: 'claims' });

async function failedInReport({ format: name, text: body }: NonNullable<Subjects['report']>): Promise<string[]> {
  const wrong = (msg: string) => unprocessable([{ loc: ['body', 'report'], msg, type: 'invalid_report' }]);
  const bytes = new TextEncoder().encode(body);
  const format: ReportFormat | null = FORMATS.find((one) => one.name === name) ?? (await formatOf(bytes));
  if (!format) throw wrong('is in no known format: name its format, or send the names of the tests');
  const report = new Report({ source: 'claims', executionsMax: REPORT_TESTS_MAX, attachments: undefined });
  try {
    await readReport(format, bytes, report);
    const { runs } = report.toUpload(RUN, undefined);
    return runs.flatMap(({ executions }) => executions.flatMap((one) => (one.status === 'failed' ? [one.name] : [])));
  } catch (error) {
    if (error instanceof InvalidUpload || error instanceof UploadTooLarge) throw wrong(error.message);
    throw error;
  }
}
