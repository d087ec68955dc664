-- Everything retained of some tests on the default branch, skipped executions included: what their state follows from.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_test_ids = ['8c0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c11'];
SELECT
  test_id, pipeline_name, job_name, commit_sha, run_id, run_attempt, toString(execution_id) AS execution_id, status,
  is_flaky, is_retried, toUnixTimestamp64Milli(finished_at) AS finished_at_ms, test_name, framework, framework_version,
  language, filepath, function
FROM ci.executions
WHERE repository_id = {repository_id: UUID} AND on_default AND test_id IN {test_ids: Array(UUID)}
