-- The failed executions of some tests on some days, on any branch, with their failure groups: those of their last attempts. Only for
-- policies that excuse certain groups. The key leads to the tests on both sides of `on_default`.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_test_ids = ['8c0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c11'];
SET param_start_ms = 1790000000000;
SET param_end_ms = 1790086400000;
WITH
  grouped AS
  (
    SELECT test_id, execution_id, argMax(toString(failure_id), attempt) AS last_failure_id FROM ci.failures
    WHERE repository_id = {repository_id: UUID} AND on_default IN (false, true) AND test_id IN {test_ids: Array(UUID)}
      AND failed_at >= fromUnixTimestamp64Milli({start_ms: Int64}, 'UTC') AND failed_at < fromUnixTimestamp64Milli({end_ms: Int64}, 'UTC')
    GROUP BY test_id, execution_id
  )
SELECT
  test_id, toUInt16(toDate(finished_at, 'UTC')) AS day_number, commit_sha, pipeline_name, run_id, job_name, axes, run_attempt, on_default,
  groupUniqArray(last_failure_id) AS failure_ids
FROM
(
  SELECT test_id, execution_id, finished_at, commit_sha, pipeline_name, run_id, job_name, axes, run_attempt, on_default FROM ci.executions
  WHERE repository_id = {repository_id: UUID} AND on_default IN (false, true) AND test_id IN {test_ids: Array(UUID)}
    AND finished_at >= fromUnixTimestamp64Milli({start_ms: Int64}, 'UTC') AND finished_at < fromUnixTimestamp64Milli({end_ms: Int64}, 'UTC')
    AND status = 'failed'
) AS failed
LEFT JOIN grouped USING (test_id, execution_id)
GROUP BY test_id, day_number, commit_sha, pipeline_name, run_id, job_name, axes, run_attempt, on_default
