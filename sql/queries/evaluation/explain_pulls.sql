-- Failures of one test off the default branch that an explanation names, with the pull request. The test and the time are a range of
-- the key.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_test_id = '8c0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c11';
SET param_from_ms = 1790000000000;
SET param_to_ms = 1790000000000;
SET param_execution_ids = [1];
SELECT
  test_id, pipeline_name, job_name, axes, commit_sha, run_id, run_attempt, toString(execution_id) AS execution_id, status, is_flaky, is_retried,
  toUnixTimestamp64Milli(finished_at) AS finished_at_ms, toUnixTimestamp64Milli(received_at) AS received_at_ms, job_url,
  pull_request
FROM ci.executions
WHERE repository_id = {repository_id: UUID} AND NOT on_default AND test_id = {test_id: UUID}
  AND finished_at >= fromUnixTimestamp64Milli({from_ms: Int64}, 'UTC')
  AND finished_at <= fromUnixTimestamp64Milli({to_ms: Int64}, 'UTC')
  AND execution_id IN {execution_ids: Array(UInt64)}
