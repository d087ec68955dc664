/** The reads that are measured: their addresses, each with another test, and how fast the service answers them. */
import { z } from 'zod';
import { randomFrom } from '../support/random.ts';
import { ownerOf } from './data.ts';
import { runLoad } from './load.ts';
import type { Latency } from './quantile.ts';
import type { BenchService } from './service.ts';

const DAY_MS = 86_400_000;
const WINDOW_DAYS = 30;

export const READS = ['details', 'failures', 'exact', 'pattern', 'part', 'all', 'stats', 'executions'] as const;
export type Read = (typeof READS)[number];
/** Reads that are asked about one test each, and over 64 connections, too. */
export const PER_TEST = ['details', 'failures', 'exact', 'stats', 'executions'] as const satisfies Read[];
export type PerTest = (typeof PER_TEST)[number];

export const CONNECTIONS = 64;
/** No more addresses than this go round. */
const TESTS_MAX = 20_000;
const PATTERNS = 500;
/** Pages of a hundred runs, in each repository. */
const RUN_PAGES_MAX = 10;

/** A stored test. */
interface BenchTest {
  repositoryId: string;
  repository: string;
  testId: string;
  name: string;
}

interface TestPattern {
  repository: string;
  repositoryId: string;
  pattern: string;
}

export interface Targets {
  tests: BenchTest[];
  /** Tests with failures. */
  failing: BenchTest[];
  /** Patterns of how names begin. */
  patterns: TestPattern[];
  /** Patterns of what stands in the middle of names. */
  parts: TestPattern[];
  /** With failures. */
  commits: { repository: string; commit: string }[];
  /** The newest of each repository. */
  runs: { repository: string; id: string }[];
  /** The newest of each repository. */
  causes: { repository: string; id: string }[];
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
  const inRepositories = (patternOf: () => string): TestPattern[] =>
    tests
      .slice(0, PATTERNS)
      .map(({ repository, repositoryId }) => ({ repository, repositoryId, pattern: patternOf() }));
  const below = (max: number): number => Math.floor(random() * max);
  const patterns = inRepositories(() => `suite ${below(97)} > feature ${below(10)}* > *`);
  const parts = inRepositories(() => `*does thing ${100 + below(900)}*`);
  const commits = await service.rows<Targets['commits'][number] & Record<string, unknown>>(
    `select distinct r.name as repository, t.first_failed_commit as commit
     from ci_insights.tests t join ci_insights.repositories r on r.id = t.repository_id
     where t.first_failed_commit <> '' order by 2 limit ${TESTS_MAX}`,
    [],
  );
  const window = { start: now - WINDOW_DAYS * DAY_MS, end: now };
  const causes = await service.rows<Targets['causes'][number] & Record<string, unknown>>(
    `select r.name as repository, n.cause_id as id
     from ci_insights.cause_nodes n join ci_insights.repositories r on r.id = n.repository_id
     where n.failures > 0 and n.node_id = n.cause_id order by n.last_ms desc limit ${TESTS_MAX}`,
    [],
  );
  return { tests, failing, patterns, parts, commits, causes, runs: await newestRuns(service, tests), window };
}

async function newestRuns(service: BenchService, tests: readonly BenchTest[]): Promise<Targets['runs']> {
  const runs: Targets['runs'] = [];
  for (const repository of new Set(tests.map((one) => one.repository))) {
    let path: string | undefined = `${base(repository)}/runs?per_page=100`;
    for (let page = 0; page < RUN_PAGES_MAX && path; page++) {
      const response = await service.request(path);
      if (!response.ok) throw new Error(`${path} answered ${response.status}`);
      for (const { id } of runList.parse(await response.json()).runs) runs.push({ repository, id });
      const next: string | undefined = /<([^>]+)>; rel="next"/.exec(response.headers.get('link') ?? '')?.[1];
      path = next?.slice(new URL(next).origin.length);
    }
  }
  return runs;
}

const runList = z.object({ runs: z.array(z.object({ id: z.string() })) });

/** The address of a repository. */
export const base = (repository: string): string => `/v1/ci/${ownerOf}/repositories/${repository}`;
export const testAddress = ({ repository, testId }: Pick<BenchTest, 'repository' | 'testId'>): string =>
  `${base(repository)}/tests/${testId}`;
export const during = ({ start, end }: Targets['window']): string =>
  `start=${new Date(start).toISOString()}&end=${new Date(end).toISOString()}`;

/** The addresses of a read. */
export function pathsOf(read: Read, { tests, failing, patterns, parts, window }: Targets): string[] {
  const search = (repository: string, name: string): string =>
    `${base(repository)}/search/tests?test_name=${encodeURIComponent(name)}`;
  switch (read) {
    case 'details':
      return tests.map(testAddress);
    case 'failures':
      return failing.map((one) => `${testAddress(one)}/failures`);
    case 'exact':
      return tests.map(({ repository, name }) => search(repository, name));
    case 'pattern':
      return patterns.map(({ repository, pattern }) => search(repository, pattern));
    case 'part':
      return parts.map(({ repository, pattern }) => search(repository, pattern));
    case 'all':
      return [...new Set(tests.map(({ repository }) => search(repository, '*')))];
    case 'stats':
      return tests.map((one) => `${testAddress(one)}/stats/mean_duration?${during(window)}`);
    case 'executions':
      return tests.map((one) => `${testAddress(one)}/executions?${during(window)}`);
  }
}

export interface Pace {
  warmSeconds: number;
  seconds: number;
}

/** @param pathsFor the addresses of each read, which go round */
export async function measureReads<R>(
  service: BenchService,
  reads: readonly R[],
  pathsFor: (read: R) => string[],
  { callers, isPatient = false, ...pace }: Pace & { callers: number; isPatient?: boolean },
): Promise<Map<R, Latency>> {
  const measured = new Map<R, Latency>();
  const { origin, authorization } = service;
  for (const read of reads) {
    const paths = pathsFor(read);
    measured.set(read, await runLoad({ kind: 'http', origin, authorization, paths, callers, isPatient, ...pace }));
  }
  return measured;
}
