/**
 * The reads that PostgreSQL alone has no answer to: judgements, runs of commits, the log. Their addresses, so that as few as
 * possible are the same.
 */
import { ownerOf, repositoryName } from './data.ts';
import { base, during, type Targets, testAddress } from './reads.ts';
import type { BenchService } from './service.ts';

export const JUDGED = [
  'unhealthy',
  'filtered',
  'repository_stats',
  'transitions',
  'runs',
  'run',
  'commit_failures',
  'log',
  'reruns',
] as const;
/** Over 64 connections. Different statistics of repositories are read one or two at a time; people ask for the same. */
export const JUDGED_AT_ONCE = [
  'unhealthy',
  'filtered',
  'repository_overview',
  'transitions',
  'runs',
  'run',
  'commit_failures',
  'log',
  'reruns',
] as const;
export type Judged = (typeof JUDGED)[number] | (typeof JUDGED_AT_ONCE)[number];

const PAGE_SIZES = 100;
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const LOG_WINDOWS = 2_000;
const LOG_DAYS = 30;
/** Users of `fillLog` whose events are merges. */
const MERGING_USERS = 75;
const STATISTICS = ['total_tests', 'healthy_tests', 'flaky_tests', 'broken_tests', 'failed_executions'];

/** Lets test runners ask what to run again. It takes effect within a second. */
export const allowReruns = (service: BenchService): Promise<unknown> =>
  service.rows('update ci_insights.repositories set rerun_percent = 10');

export function judgedPathsOf(read: Judged, { tests, failing, patterns, commits, runs, window }: Targets): string[] {
  const repositories = [...new Set(tests.map(({ repository }) => repository))];
  const ofEachSize = (path: (repository: string) => string): string[] =>
    repositories.flatMap((one) => Array.from({ length: PAGE_SIZES }, (_, i) => `${path(one)}&per_page=${i + 1}`));
  const statistic = (repository: string, name: string): string => `${base(repository)}/tests/stats/${name}`;
  switch (read) {
    case 'unhealthy':
      return ofEachSize((one) => `${base(one)}/search/tests?health_status_exclude=healthy`);
    case 'filtered':
      return patterns.map(
        ({ repository, pattern }) =>
          `${base(repository)}/search/tests?test_name=${encodeURIComponent(pattern)}&job_name_exclude=job%203&health_status_exclude=broken&is_quarantined=false&sort=last_failure_at`,
      );
    case 'repository_stats':
      // Each without another test, because an answer is kept for ten seconds.
      return tests.map(
        ({ repository, name }) =>
          `${statistic(repository, 'total_tests')}?test_name_exclude=${encodeURIComponent(name)}`,
      );
    case 'repository_overview':
      return repositories.flatMap((one) => STATISTICS.map((name) => statistic(one, name)));
    case 'transitions':
      return failing.map((one) => `${testAddress(one)}/health-transitions?${during(window)}`);
    case 'runs':
      return ofEachSize((one) => `${base(one)}/runs?${during(window)}`);
    case 'run':
      return runs.map(({ repository, id }) => `${base(repository)}/runs/${id}`);
    case 'commit_failures':
      return commits.map(({ repository, commit }) => `${base(repository)}/commits/${commit}/failures`);
    case 'log':
      return Array.from({ length: LOG_WINDOWS }, (_, i) => {
        const end = window.end - i * MINUTE_MS;
        const times = `received_from=${new Date(end - LOG_DAYS * DAY_MS).toISOString()}&received_to=${new Date(end).toISOString()}`;
        const by = `event_type=action.merge&outcome=success&trigger=@user-${4 * (i % MERGING_USERS) + 3}`;
        return `/v1/repos/${ownerOf}/${repositoryName(0)}/logs?${by}&${times}`;
      });
    case 'reruns':
      return repositories.map((one) => `${base(one)}/flaky-detection-context`);
  }
}
