/** Short ways to parse a report in tests of the formats. */
import type { ReportFormat } from '../../src/formats/format.ts';
import type { ParsedExecution, ParsedUpload } from '../../src/formats/upload.ts';
import { parseReport, type ReportOptions } from '../../src/ingest/reports/parse.ts';
import { executionsOf, fixtureBytes, RUN } from './parsing.ts';

export const parse = (
  format: ReportFormat,
  body: string | Uint8Array,
  options: Partial<ReportOptions> = {},
): Promise<ParsedUpload> =>
  parseReport(format, typeof body === 'string' ? Buffer.from(body) : body, {
    run: RUN,
    reportName: 'report',
    ...options,
  });

export const parseFixture = async (format: ReportFormat, file: string): Promise<ParsedUpload> =>
  parse(format, await fixtureBytes(`${format.name}/${file}`));

/** The execution with this name; throws unless there is exactly one. */
export function executionNamed(upload: ParsedUpload, name: string): ParsedExecution {
  const [execution, ...others] = executionsOf(upload).filter((one) => one.name === name);
  if (!execution || others.length > 0)
    throw new Error(`one ${name} expected among ${executionsOf(upload).map((one) => one.name)}`);
  return execution;
}

/** `passed`, `failed`, `skipped`, `flaky`: what a reader of the report would call each. */
export const outcomesOf = (upload: ParsedUpload): Record<string, string> =>
  Object.fromEntries(executionsOf(upload).map(({ name, status, isFlaky }) => [name, isFlaky ? 'flaky' : status]));

export const keysOf = (upload: ParsedUpload): string[] =>
  executionsOf(upload).map(({ source, key }) => `${source}\n${key}`);

/** The error that refuses the report. */
export const refusalOf = (format: ReportFormat, body: string | Uint8Array): Promise<unknown> =>
  parse(format, body).then(
    () => null,
    (error: unknown) => error,
  );
