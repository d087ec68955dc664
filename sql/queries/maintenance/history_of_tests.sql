-- What some tests did on the default branch between two moments: those that failed nowhere but on pull requests.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_test_ids = ['8c0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c11'];
SET param_from_ms = 1790000000000;
SET param_to_ms = 1790003600000;
SELECT
  test_id, pipeline_name, job_name, axes, commit_sha, run_id, run_attempt,
  toString(execution_id) AS execution_id, status, is_flaky, is_retried, toUnixTimestamp64Milli(finished_at) AS finished_at_ms
FROM ci.executions
WHERE repository_id = {repository_id: UUID} AND on_default AND test_id IN {test_ids: Array(UUID)} AND status != 'skipped'
  AND finished_at >= fromUnixTimestamp64Milli({from_ms: Int64}, 'UTC')
  AND finished_at < fromUnixTimestamp64Milli({to_ms: Int64}, 'UTC')
