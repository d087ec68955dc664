/**
 * The reads that PostgreSQL alone has no answer to: judgements, runs of commits, the log. Their addresses, so that as few as
 * possible are the same.
 */
import { ownerOf, repositoryName } from './data.ts';
import { base, during, type Targets, testAddress } from './reads.ts';
import type { BenchService } from './service.ts';

/** Lists from rows and from memory. */
export const LISTED = [
  'causes',
  'causes_by_failures',
  'causes_by_words',
  'cause',
  'owners',
  'unowned',
  'durations',
  'slowest',
  'costliest',
  'turns',
  'pulls',
] as const;
export const JUDGED = [
  ...LISTED,
  'lanes',
  'cost',
  'red_runs_by_day',
  'red_runs',
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
  ...LISTED,
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
/** The longest window of lanes and costs. */
const LONG_DAYS = 85;
/** In most messages, in a third, in a fifth, and in none. */
const WORDS = ['expected', 'TimeoutError', '"in thing 3"', 'refused'];
const LOG_WINDOWS = 2_000;
const LOG_DAYS = 30;
/** Users of `fillLog` whose events are merges. */
const MERGING_USERS = 75;
const STATISTICS = ['total_tests', 'healthy_tests', 'flaky_tests', 'broken_tests', 'failed_executions'];

/** Lets test runners ask what to run again. It takes effect within a second. */
export const allowReruns = (service: BenchService): Promise<unknown> =>
  service.rows('update ci_insights.repositories set rerun_percent = 10');

export function judgedPathsOf(
  read: Judged,
  { tests, failing, patterns, commits, runs, causes, window }: Targets,
): string[] {
  const repositories = [...new Set(tests.map(({ repository }) => repository))];
  const ofEachSize = (path: (repository: string) => string): string[] =>
    repositories.flatMap((one) => Array.from({ length: PAGE_SIZES }, (_, i) => `${path(one)}&per_page=${i + 1}`));
  const statistic = (repository: string, name: string): string => `${base(repository)}/tests/stats/${name}`;
  // Windows that end at another minute: what is read of one is kept for a while.
  const ofEachWindow = (path: string): string[] =>
    repositories.flatMap((one) =>
      Array.from({ length: PAGE_SIZES }, (_, i) => {
        const end = window.end - i * MINUTE_MS;
        return `${base(one)}/${path}${during({ start: end - LONG_DAYS * DAY_MS, end })}`;
      }),
    );
  switch (read) {
    case 'causes':
      return ofEachSize((one) => `${base(one)}/causes?sort=newest`);
    case 'causes_by_failures':
      return ['failures', 'tests'].flatMap((sort) => ofEachSize((one) => `${base(one)}/causes?sort=${sort}`));
    case 'causes_by_words':
      return WORDS.flatMap((q) => ofEachSize((one) => `${base(one)}/causes?q=${encodeURIComponent(q)}`));
    case 'cause':
      return causes.map(({ repository, id }) => `${base(repository)}/causes/${id}`);
    case 'owners':
      return ofEachSize((one) => `${base(one)}/owners?`);
    case 'unowned':
      return ofEachSize((one) => `${base(one)}/search/tests?owner=&sort=test_name`);
    case 'durations':
      return ['share', 'p95', 'growth'].flatMap((sort) => ofEachSize((one) => `${base(one)}/durations?sort=${sort}`));
    case 'slowest':
      return ofEachSize((one) => `${base(one)}/search/tests?sort=median_seconds`);
    case 'costliest':
      return ofEachSize((one) => `${base(one)}/search/tests?sort=cost`);
    case 'turns':
      return ofEachSize((one) => `${base(one)}/health-transitions?${during(window)}`);
    case 'pulls':
      return ofEachSize((one) => `${base(one)}/pulls?days=30`);
    case 'lanes':
      return ['runner', 'job', 'hour'].flatMap((by) => ofEachWindow(`lanes?by=${by}&`));
    case 'cost':
      return ['test', 'owner', 'cause'].flatMap((by) => ofEachWindow(`cost?by=${by}&`));
    case 'red_runs_by_day':
      return ofEachWindow('red-runs/by-day?');
    case 'red_runs':
      return repositories.flatMap((one) =>
        Array.from({ length: PAGE_SIZES }, (_, i) => `${base(one)}/red-runs?hours=${i + 1}`),
      );
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
