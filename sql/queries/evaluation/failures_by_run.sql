-- The newest retained failures of a repository by test, failure group, leg, run and UTC day, at most some: what causes are
-- derived from. Failures do not tell their run, so they are joined with the executions that have some: few, which are held in
-- memory. Both are ranges of the keys, and of executions little more than the number of failures is read.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_rows = 100000;
SELECT
  test_id, failure_id, pipeline_name, job_name, axes, run_id, commit_sha, toUInt32(toDate(failed_at, 'UTC')) AS day,
  count() AS failures, toUnixTimestamp64Milli(min(failed_at)) AS first_ms, toUnixTimestamp64Milli(max(failed_at)) AS last_ms
FROM ci.failures AS failures
ANY INNER JOIN (
  SELECT test_id, execution_id, pipeline_name, job_name, axes, run_id, commit_sha
  FROM ci.executions
  PREWHERE failures > 0
  WHERE repository_id = {repository_id: UUID} AND on_default
) AS failed USING (test_id, execution_id)
WHERE repository_id = {repository_id: UUID} AND on_default
GROUP BY test_id, failure_id, pipeline_name, job_name, axes, run_id, commit_sha, day
ORDER BY last_ms DESC, test_id, failure_id, pipeline_name, job_name, axes, run_id, commit_sha, day
LIMIT {rows: UInt32}
