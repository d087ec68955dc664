-- What tests that ever failed did between two moments. Without the test, the key ends at the branch: a rebuild reads the times
-- of all executions of the repository.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_from_ms = 1790000000000;
SET param_to_ms = 1790003600000;
SELECT
  test_id, pipeline_name, job_name, axes, commit_sha, run_id, run_attempt,
  toString(execution_id) AS execution_id, status, is_flaky, is_retried, toUnixTimestamp64Milli(finished_at) AS finished_at_ms
FROM ci.executions
WHERE repository_id = {repository_id: UUID} AND on_default AND status != 'skipped'
  AND finished_at >= fromUnixTimestamp64Milli({from_ms: Int64}, 'UTC')
  AND finished_at < fromUnixTimestamp64Milli({to_ms: Int64}, 'UTC')
  AND test_id IN (/*include maintenance/troubled_tests*/)
