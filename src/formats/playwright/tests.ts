/** From a test in one project to a record. */
import type { Status } from '../../domain/status.ts';
import { axesFrom } from '../environment.ts';
import { type NamePath, pathWithin } from '../path.ts';
import { type ReportedRecord, TOO_LONG_NAME } from '../report.ts';
import { parseTimestamp } from '../time.ts';
import { failuresOf } from './failures.ts';
import type { Attempt, ProjectTest, Spec } from './schemas.ts';

/** Where a test is, in the report and in the code. */
export interface Place {
  /** Such as `2/5`; empty if the run is not sharded. */
  shard: string;
  file: string;
  describes: Describes;
}

/** The describe blocks around a test. */
export interface Describes {
  path: NamePath;
  /** Parts as they stand in names; no longer than a name that is too long. */
  text: string;
}

export const NO_DESCRIBES: Describes = { path: [], text: '' };

export const describesWithin = ({ path, text }: Describes, title: string): Describes => ({
  path: pathWithin(path, title),
  text: [text, title.slice(0, TOO_LONG_NAME)]
    .filter((part) => part !== '')
    .join(SEPARATOR)
    .slice(0, TOO_LONG_NAME),
});

const STATUSES: Readonly<Record<ProjectTest['status'], Status>> = {
  expected: 'passed',
  flaky: 'passed',
  unexpected: 'failed',
  // Includes tests that did not run because setup failed or Playwright stopped early.
  skipped: 'skipped',
};

const SEPARATOR = ' › ';

export function recordOf(
  spec: Spec,
  test: ProjectTest,
  { shard, file, describes }: Place,
): { record: ReportedRecord; startedAtMs: number | null } {
  const attempts = test.results.filter(({ status }) => status !== 'skipped' && status !== 'interrupted');
  // The last attempt decides. Adding the others would show how often the test failed, not how long it takes.
  const decisive = attempts.at(-1) ?? test.results.at(-1);
  const durationMs = Math.max(0, decisive?.duration ?? 0);
  const decidedAtMs = startOf(decisive);
  const axes = axesFrom({ project: test.projectName });
  return {
    record: {
      // Shards run different tests, except with `--repeat-each`.
      place: [shard, test.projectName, file, describes.path, spec.title],
      name: nameOf(spec, test, file, describes),
      status: STATUSES[test.status],
      durationSeconds: durationMs / 1000,
      finishedAtMs: decidedAtMs === null ? null : Math.round(decidedAtMs + durationMs),
      filepath: file || null,
      function: spec.title || null,
      isFlaky: test.status === 'flaky',
      isRetried: attempts.length > 1,
      failures: failuresOf(test),
      // A record has all attempts of its test. `--repeat-each` makes several records.
      listing: 'repeats',
      home: null,
      ...(axes && { axes }),
    },
    startedAtMs: startOf(test.results[0]),
  };
}

/**
 * The name that Playwright's own reporters show, such as `[chromium] › cart.spec.ts › Cart › adds an item`, but without
 * line and column, which change when other tests do. A project without a name is left out.
 */
function nameOf(spec: Spec, test: ProjectTest, file: string, describes: Describes): string {
  const project = test.projectName && `[${test.projectName}]`;
  return [project, file, describes.text, spec.title].filter((part) => part !== '').join(SEPARATOR);
}

const startOf = (attempt: Attempt | undefined): number | null => parseTimestamp(attempt?.startTime);
