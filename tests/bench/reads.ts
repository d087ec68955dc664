/** The reads that are measured: their addresses, each with another test, and how fast the service answers them. */
import { randomFrom } from '../support/random.ts';
import { ownerOf } from './data.ts';
import { runLoad } from './load.ts';
import type { Latency } from './quantile.ts';
import type { BenchService } from './service.ts';

const DAY_MS = 86_400_000;
const WINDOW_DAYS = 30;

export const READS = ['details', 'failures', 'exact', 'pattern', 'all', 'stats', 'executions'] as const;
export type Read = (typeof READS)[number];
/** Those that are asked about one test each, and over 64 connections, too. */
export const PER_TEST = ['details', 'failures', 'exact', 'stats', 'executions'] as const satisfies Read[];
export type PerTest = (typeof PER_TEST)[number];

/** Those that PostgreSQL alone has no answer to: judgements, and runs of commits. */
export const JUDGED = ['unhealthy', 'runs', 'commit_failures', 'repository_stats'] as const;
export type Judged = (typeof JUDGED)[number];
/** Those that are asked over 64 connections, too. Of the others, two run at a time for an owner. */
export const JUDGED_AT_ONCE = ['unhealthy', 'runs', 'commit_failures'] as const satisfies Judged[];

export const CONNECTIONS = 64;
/** No more addresses than this go round. */
const TESTS_MAX = 20_000;

/** A stored test. */
interface BenchTest {
  repositoryId: string;
  repository: string;
  testId: string;
  name: string;
}

export interface Targets {
  tests: BenchTest[];
  /** Those with failures. */
  failing: BenchTest[];
  patterns: { repository: string; repositoryId: string; pattern: string }[];
  /** With failures. */
  commits: { repository: string; commit: string }[];
  window: { start: number; end: number };
}

/** Tests that the service knows, in an order from the seed. */
export async function targetsOf(service: BenchService, seed: number, now: number): Promise<Targets> {
  const select = (more: string): Promise<BenchTest[]> =>
    service.rows<BenchTest & Record<string, unknown>>(
      `select t.repository_id as "repositoryId", r.name as repository, t.test_id as "testId", t.name
       from ci_insights.tests t join ci_insights.repositories r on r.id = t.repository_id ${more}
       order by md5($1 || t.test_id::text) limit ${TESTS_MAX}`,
      [String(seed)],
    );
  const tests = await select('');
  const failing = await select(
    `where exists (select from ci_insights.failure_groups f
       where f.repository_id = t.repository_id and f.test_id = t.test_id)`,
  );
  const random = randomFrom(seed);
  const patterns = tests.slice(0, 500).map(({ repository, repositoryId }) => ({
    repository,
    repositoryId,
    pattern: `suite ${Math.floor(random() * 97)} > feature ${Math.floor(random() * 10)}* > *`,
  }));
  const commits = await service.rows<Targets['commits'][number] & Record<string, unknown>>(
    `select distinct r.name as repository, t.first_failed_commit as commit
     from ci_insights.tests t join ci_insights.repositories r on r.id = t.repository_id
     where t.first_failed_commit <> '' order by 2 limit ${TESTS_MAX}`,
    [],
  );
  return { tests, failing, patterns, commits, window: { start: now - WINDOW_DAYS * DAY_MS, end: now } };
}

/** The addresses of a read. */
export function pathsOf(read: Read | Judged, { tests, failing, patterns, commits, window }: Targets): string[] {
  const base = (repository: string): string => `/v1/ci/${ownerOf}/repositories/${repository}`;
  const search = (repository: string, name: string): string =>
    `${base(repository)}/search/tests?test_name=${encodeURIComponent(name)}`;
  const test = ({ repository, testId }: BenchTest): string => `${base(repository)}/tests/${testId}`;
  const during = `start=${new Date(window.start).toISOString()}&end=${new Date(window.end).toISOString()}`;
  switch (read) {
    case 'details':
      return tests.map(test);
    case 'failures':
      return failing.map((one) => `${test(one)}/failures`);
    case 'exact':
      return tests.map(({ repository, name }) => search(repository, name));
    case 'pattern':
      return patterns.map(({ repository, pattern }) => search(repository, pattern));
    case 'all':
      return [...new Set(tests.map(({ repository }) => search(repository, '*')))];
    case 'stats':
      return tests.map((one) => `${test(one)}/stats/mean_duration?${during}`);
    case 'executions':
      return tests.map((one) => `${test(one)}/executions?${during}`);
    case 'unhealthy':
      // Each repository with pages of every size, so that few requests are the same.
      return sizes(tests, (one, size) => `${base(one)}/search/tests?health_status_exclude=healthy&per_page=${size}`);
    case 'runs':
      return sizes(tests, (one, size) => `${base(one)}/runs?${during}&per_page=${size}`);
    case 'commit_failures':
      return commits.map(({ repository, commit }) => `${base(repository)}/commits/${commit}/failures`);
    case 'repository_stats':
      // Each without another test, because an answer is kept for ten seconds.
      return tests.map(
        ({ repository, name }) =>
          `${base(repository)}/tests/stats/total_tests?test_name_exclude=${encodeURIComponent(name)}`,
      );
  }
}

const sizes = (tests: readonly BenchTest[], path: (repository: string, size: number) => string): string[] =>
  [...new Set(tests.map(({ repository }) => repository))].flatMap((repository) =>
    Array.from({ length: 100 }, (_, i) => path(repository, i + 1)),
  );

export interface Pace {
  warmSeconds: number;
  seconds: number;
}

export async function measureReads<R extends Read | Judged>(
  service: BenchService,
  reads: readonly R[],
  targets: Targets,
  callers: number,
  pace: Pace,
): Promise<Map<R, Latency>> {
  const measured = new Map<R, Latency>();
  const { origin, authorization } = service;
  for (const read of reads) {
    const paths = pathsOf(read, targets);
    measured.set(read, await runLoad({ kind: 'http', origin, authorization, paths, callers, ...pace }));
  }
  return measured;
}
