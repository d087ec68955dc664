-- The newest executions of one test on the default branch, with what an explanation shows about them. Read backwards along
-- the key, which ends at `finished_at`, so that no more is read than is asked for.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_test_id = '8c0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c11';
SET param_until_ms = 1790000000000;
SET param_executions = 10000;
SELECT
  test_id, pipeline_name, job_name, axes, commit_sha, run_id, run_attempt, toString(execution_id) AS execution_id, status, is_flaky, is_retried,
  toUnixTimestamp64Milli(finished_at) AS finished_at_ms, toUnixTimestamp64Milli(received_at) AS received_at_ms, job_url
FROM ci.executions
WHERE repository_id = {repository_id: UUID} AND on_default AND test_id = {test_id: UUID}
  AND finished_at <= fromUnixTimestamp64Milli({until_ms: Int64}, 'UTC') AND status != 'skipped'
ORDER BY repository_id DESC, on_default DESC, test_id DESC, finished_at DESC, execution_id DESC
LIMIT {executions: UInt32}
