/** From a test of a project to an execution. */
import type { Status } from '../../../domain/status.ts';
import type { ReportedExecution } from '../report.ts';
import { parseTimestamp } from '../time.ts';
import { failuresOf } from './failures.ts';
import type { Attempt, ProjectTest, Spec } from './schemas.ts';

/** Where in the report, and in the code, a test stands. */
export interface Place {
  /** `2/5`; empty for a report of everything. */
  shard: string;
  file: string;
  describes: readonly string[];
}

const STATUSES: Readonly<Record<ProjectTest['status'], Status>> = {
  expected: 'passed',
  flaky: 'passed',
  unexpected: 'failed',
  // Also of tests that did not run because set-up failed, or because Playwright stopped early.
  skipped: 'skipped',
};

const SEPARATOR = ' › ';

export function executionOf(
  spec: Spec,
  test: ProjectTest,
  { shard, file, describes }: Place,
): { execution: ReportedExecution; startedAtMs: number | null } {
  const attempts = test.results.filter(({ status }) => status !== 'skipped' && status !== 'interrupted');
  // The attempt that decided: the time of the others says how often it failed, not how long the test takes.
  const decisive = attempts.at(-1) ?? test.results.at(-1);
  const durationMs = Math.max(0, decisive?.duration ?? 0);
  const decidedAtMs = startOf(decisive);
  return {
    execution: {
      // Tests of two shards have different names, except with `--repeat-each`.
      place: [shard, test.projectName, file, describes, spec.title],
      name: nameOf(spec, test, file, describes),
      status: STATUSES[test.status],
      durationSeconds: durationMs / 1000,
      finishedAtMs: decidedAtMs === null ? null : Math.round(decidedAtMs + durationMs),
      filepath: file || null,
      function: spec.title || null,
      isFlaky: test.status === 'flaky',
      isRetried: attempts.length > 1,
      failures: failuresOf(test),
    },
    startedAtMs: startOf(test.results[0]),
  };
}

/**
 * As Playwright's own reporters write it, without line and column, which change when other tests do:
 * `[chromium] › cart.spec.ts › Cart › adds an item`. A project without a name is left out.
 */
function nameOf(spec: Spec, test: ProjectTest, file: string, describes: readonly string[]): string {
  const project = test.projectName && `[${test.projectName}]`;
  return [project, file, ...describes, spec.title].filter((part) => part !== '').join(SEPARATOR);
}

const startOf = (attempt: Attempt | undefined): number | null => parseTimestamp(attempt?.startTime);
