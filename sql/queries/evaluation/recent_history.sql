-- The executions of some tests since a moment, and the newest ones of each identity before it. Whether a failure is a repetition
-- depends on a limited number of executions, so a test that runs often costs no more than one that rarely runs.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_test_ids = ['8c0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c11'];
SET param_since_ms = 1790000000000;
SET param_from_ms = 1790000000000;
SET param_executions = 300;
SELECT
  test_id, pipeline_name, job_name, commit_sha, run_id, run_attempt,
  toString(execution_id) AS execution_id, status, is_flaky, is_retried, toUnixTimestamp64Milli(finished_at) AS finished_at_ms
FROM
(
  SELECT test_id, pipeline_name, job_name, commit_sha, run_id, run_attempt, execution_id, status, is_flaky, is_retried, finished_at
  FROM ci.executions
  WHERE repository_id = {repository_id: UUID} AND on_default AND test_id IN {test_ids: Array(UUID)}
    AND finished_at >= fromUnixTimestamp64Milli({since_ms: Int64}, 'UTC')
    AND finished_at < fromUnixTimestamp64Milli({from_ms: Int64}, 'UTC') AND status != 'skipped'
  ORDER BY finished_at DESC
  LIMIT {executions: UInt32} BY test_id, pipeline_name, job_name
  UNION ALL
  SELECT test_id, pipeline_name, job_name, commit_sha, run_id, run_attempt, execution_id, status, is_flaky, is_retried, finished_at
  FROM ci.executions
  WHERE repository_id = {repository_id: UUID} AND on_default AND test_id IN {test_ids: Array(UUID)}
    AND finished_at >= fromUnixTimestamp64Milli({from_ms: Int64}, 'UTC') AND status != 'skipped'
)
