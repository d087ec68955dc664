-- One execution of a test, on any branch. Its id is last in the key, so the executions of the test are read: two ranges.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_test_id = '8c0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c11';
SET param_execution = 1;
SELECT
  toString(execution_id) AS execution, toUnixTimestamp64Milli(finished_at) AS finished_ms, toString(status) AS ended, is_flaky,
  is_retried, duration_s, toString(pipeline_name) AS pipeline, toString(job_name) AS job, toString(axes) AS leg,
  toString(place) AS machine, run_id, run_attempt, commit_sha, branch, base_ref, pull_request, job_url, filepath, failures
FROM ci.executions
WHERE repository_id = {repository_id: UUID} AND on_default IN (true, false) AND test_id = {test_id: UUID}
  AND execution_id = {execution: UInt64}
LIMIT 1
