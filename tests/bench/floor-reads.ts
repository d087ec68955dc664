/** The reads as SQL on the tables of the floor, and answers of the service in the shape that it gives. */
import { type Load, runLoad } from './load.ts';
import type { Latency } from './quantile.ts';
import type { Pace, Read, Targets } from './reads.ts';

const DAY_MS = 86_400_000;
const PAGE = 10;
/** Bucket of the series that the service answers for 30 days. */
const BUCKET_MS = DAY_MS;

const ms = (column: string): string => `round(extract(epoch from ${column}) * 1000)::float8`;
const OF_TEST = 'repository_id = $1 and test_id = $2 and on_default';
const DURING = `${OF_TEST} and finished_at >= to_timestamp($3 / 1000.0) and finished_at < to_timestamp($4 / 1000.0)`;

const search = (matches: string): string => `
  select test_id, name as test_name, pipeline_name, job_name from (
    select test_id, pipeline_name, job_name, count(*) as executions from executions
    where repository_id = $1 and on_default and ${matches}
    group by test_id, pipeline_name, job_name
  ) as counted join tests using (test_id)
  where tests.repository_id = $1
  order by executions desc, name, pipeline_name, job_name limit ${PAGE}`;

const NAMED_LIKE = 'test_id in (select test_id from tests where repository_id = $1 and name like $2)';

export const STATEMENTS: Record<Read, string> = {
  details: `
    select name as test_name, newest.status as last_conclusion,
      coalesce(counts.failed / nullif(counts.passed + counts.failed, 0)::float8, 0) as failure_ratio,
      coalesce(counts.passed / nullif(counts.passed + counts.failed, 0)::float8, 0) as success_ratio,
      first_failure.ms as first_failure_ms, first_failure.commit as first_failure_commit,
      last_failure.ms as last_failure_ms, last_success.ms as last_success_ms,
      newest.framework as test_framework, newest.framework_version as test_framework_version,
      newest.language as test_programming_language, newest.filepath as test_filepath
    from tests
    cross join lateral (select * from executions where ${OF_TEST}
      order by finished_at desc limit 1) as newest
    cross join lateral (select count(*) filter (where status = 'passed') as passed,
        count(*) filter (where status = 'failed') as failed
      from executions where ${OF_TEST} and finished_at >= to_timestamp($3 / 1000.0)) as counts
    left join lateral (select commit, ${ms('finished_at')} as ms from executions
      where ${OF_TEST} and status = 'failed' order by finished_at limit 1) as first_failure on true
    left join lateral (select ${ms('finished_at')} as ms from executions
      where ${OF_TEST} and status = 'failed' order by finished_at desc limit 1) as last_failure on true
    left join lateral (select ${ms('finished_at')} as ms from executions
      where ${OF_TEST} and status = 'passed' order by finished_at desc limit 1) as last_success on true
    where tests.repository_id = $1 and tests.test_id = $2`,
  failures: `
    select failure_id as id, count(*)::int as failure_count, ${ms('min(failed_at)')} as first_ms,
      ${ms('max(failed_at)')} as last_ms,
      (array_agg(exception_type order by failed_at desc))[1] as exception_type,
      (array_agg(exception_message order by failed_at desc))[1] as exception_message
    from failures where ${OF_TEST}
    group by failure_id order by max(failed_at) desc, failure_id limit 1000`,
  exact: search('test_id in (select test_id from tests where repository_id = $1 and name = $2)'),
  pattern: search(NAMED_LIKE),
  part: search(NAMED_LIKE),
  all: search('true'),
  stats: `
    select (floor(extract(epoch from finished_at) * 1000 / ${BUCKET_MS}) * ${BUCKET_MS})::float8 as start_ms,
      coalesce(avg(duration_s) filter (where status <> 'skipped'), 0) as value
    from executions where ${DURING} group by 1 order by 1`,
  executions: `
    select pipeline_name, job_name, count(*)::int as executions_count from executions where ${DURING}
    group by pipeline_name, job_name order by 3 desc, 1, 2 limit ${PAGE}`,
};

/** The parameters of a read, in the order of its addresses. */
export function valuesOf(read: Read, targets: Targets, askedAt: number): (string | number)[][] {
  const { tests, failing, patterns, parts, window } = targets;
  const likes = (of: typeof patterns) =>
    of.map(({ repositoryId, pattern }) => [repositoryId, pattern.replaceAll('*', '%')]);
  switch (read) {
    case 'details': {
      const firstDay = (Math.floor(askedAt / DAY_MS) - 29) * DAY_MS;
      return tests.map(({ repositoryId, testId }) => [repositoryId, testId, firstDay]);
    }
    case 'failures':
      return failing.map(({ repositoryId, testId }) => [repositoryId, testId]);
    case 'exact':
      return tests.map(({ repositoryId, name }) => [repositoryId, name]);
    case 'pattern':
      return likes(patterns);
    case 'part':
      return likes(parts);
    case 'all':
      return [...new Set(tests.map(({ repositoryId }) => repositoryId))].map((id) => [id]);
    case 'stats':
    case 'executions':
      return tests.map(({ repositoryId, testId }) => [repositoryId, testId, window.start, window.end]);
  }
}

export async function measureFloorReads<R extends Read>(
  databaseUrl: string,
  reads: readonly R[],
  targets: Targets,
  callers: number,
  pace: Pace,
): Promise<Map<R, Latency>> {
  const measured = new Map<R, Latency>();
  for (const read of reads) {
    const statement = { name: read, text: STATEMENTS[read] };
    const values = valuesOf(read, targets, targets.window.end);
    const load: Load = { kind: 'sql', databaseUrl, statement, values, callers, ...pace };
    measured.set(read, await runLoad(load));
  }
  return measured;
}
