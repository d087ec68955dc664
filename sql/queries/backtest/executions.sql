-- The newest executions of a few tests on the default branch, for the replay of a policy. The key leads to the tests.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_test_ids = ['8c0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c11'];
SET param_executions = 10000;
SELECT
  test_id, pipeline_name, job_name, axes, commit_sha, run_id, run_attempt, toString(execution_id) AS execution_id, status, is_flaky, is_retried,
  toUnixTimestamp64Milli(finished_at) AS finished_at_ms
FROM ci.executions
WHERE repository_id = {repository_id: UUID} AND on_default AND test_id IN {test_ids: Array(UUID)} AND status != 'skipped'
ORDER BY test_id DESC, finished_at DESC, execution_id DESC
LIMIT {executions: UInt32} BY test_id
