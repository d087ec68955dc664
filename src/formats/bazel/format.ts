/** The build events of Bazel (BEP) as JSON. */
import type { ReportFormat } from '../format.ts';

const TARGET = { label: '//cart:totals_test', configuration: { id: 'a1' } };

export const bazel: ReportFormat = {
  name: 'bazel',
  title: 'Bazel build event',
  description:
    'Bazel writes them with `bazel test --build_event_json_file=bazel.ndjson`. A test is a target; its test cases are in `test.xml`, which is JUnit XML.',
  globs: ['**/*.ndjson', '**/*.jsonl', '**/*.json'],
  mediaTypes: ['application/x-ndjson', 'application/jsonl', 'application/json'],
  example: {
    file: 'bazel.ndjson',
    text: [
      { id: { started: {} }, started: { buildToolVersion: '8.4.2', command: 'test' } },
      {
        id: { testResult: { ...TARGET, run: 1, shard: 1, attempt: 1 } },
        testResult: { status: 'PASSED', testAttemptStart: '2026-11-21T09:30:00Z', testAttemptDuration: '0.012s' },
      },
      { id: { testSummary: TARGET }, testSummary: { overallStatus: 'PASSED', shardCount: 1 } },
      { id: { buildFinished: {} }, lastMessage: true, finished: { exitCode: { name: 'SUCCESS' } } },
    ]
      .map((event) => `${JSON.stringify(event)}\n`)
      .join(''),
  },
  isOther: async (body) => (await import('./read.ts')).isOtherBazel(body),
  parse: async (body, report) => (await import('./read.ts')).readBazel(body, report),
};
