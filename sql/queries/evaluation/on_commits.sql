-- What some tests did on some commits, on the default branch or off it. The tests and the time of the runs of these commits are ranges of
-- the key, so that commits are only compared within them. What is confined is no evidence.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_on_default = false;
SET param_test_ids = ['8c0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c11'];
SET param_commits = ['1111111111111111111111111111111111111111'];
SET param_start_ms = 1795219200000;
SET param_end_ms = 1795305600000;
SELECT
  test_id, pipeline_name, job_name, axes, commit_sha, run_id, run_attempt,
  toString(execution_id) AS execution_id, status, is_flaky, is_retried, toUnixTimestamp64Milli(finished_at) AS finished_at_ms
FROM ci.executions
WHERE repository_id = {repository_id: UUID} AND on_default = {on_default: Bool} AND test_id IN {test_ids: Array(UUID)}
  AND finished_at >= fromUnixTimestamp64Milli({start_ms: Int64}, 'UTC')
  AND finished_at <= fromUnixTimestamp64Milli({end_ms: Int64}, 'UTC')
  AND commit_sha IN {commits: Array(String)} AND NOT is_confined AND status != 'skipped'
