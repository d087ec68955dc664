/** Shared by tests of the parsers: short ways to parse, and a run. */

import type { Run } from '../../src/domain/columns.ts';
import { junit } from '../../src/formats/junit/format.ts';
import type { ParsedExecution, ParsedUpload } from '../../src/formats/upload.ts';
import { parseOtlp } from '../../src/ingest/otlp/map.ts';
import { parseReport } from '../../src/ingest/reports/parse.ts';
import { type ExportInput, otlpProtobuf, type SpanInput } from './otlp.ts';

export const RUN: Run = {
  pipeline_name: 'CI',
  job_name: 'unit',
  run_id: '1001',
  run_attempt: 1,
  commit: null,
  branch: 'main',
  base_ref: null,
  pull_request: null,
  default_branch: null,
  framework: null,
  framework_version: null,
  language: null,
  job_url: null,
};

export const executionsOf = (upload: ParsedUpload): ParsedExecution[] => upload.runs.flatMap((run) => run.executions);
export const statusesOf = (upload: ParsedUpload): Record<string, string> =>
  Object.fromEntries(executionsOf(upload).map(({ name, status }) => [name, status]));

/** A file of tests/fixtures. */
export const fixtureBytes = (path: string): Promise<Uint8Array<ArrayBuffer>> =>
  Bun.file(new URL(`../fixtures/${path}`, import.meta.url)).bytes();

export const parseSpans = (...groups: ExportInput[]): Promise<ParsedUpload> =>
  parseOtlp(otlpProtobuf(...groups), 'protobuf');

export async function executionOfSpan(
  span: SpanInput,
  group: Omit<ExportInput, 'spans'> = {},
): Promise<ParsedExecution> {
  return single(await parseSpans({ ...group, spans: [span] }));
}

export const parseXml = (
  xml: string | Uint8Array,
  options: { startedAtMs?: number; executionsMax?: number } = {},
): Promise<ParsedUpload> =>
  parseReport(junit, typeof xml === 'string' ? Buffer.from(xml) : xml, {
    run: RUN,
    reportName: 'junit.xml',
    ...options,
  });

/** The execution of a `<testcase>`. */
export const executionOfCase = async (testcase: string): Promise<ParsedExecution> =>
  single(await parseXml(`<testsuite>${testcase}</testsuite>`));

function single(upload: ParsedUpload): ParsedExecution {
  const [execution, ...others] = executionsOf(upload);
  if (!execution || others.length > 0) throw new Error(`one execution expected: ${JSON.stringify(upload)}`);
  return execution;
}
