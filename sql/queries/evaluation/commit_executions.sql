-- Executions of some tests on some commits of the default branch, which may contradict each other. The key leads to the tests;
-- the commit is filtered among their rows.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_test_ids = ['8c0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c11'];
SET param_commits = ['1111111111111111111111111111111111111111'];
SELECT
  test_id, pipeline_name, job_name, commit_sha, run_id, run_attempt,
  toString(execution_id) AS execution_id, status, is_flaky, is_retried, toUnixTimestamp64Milli(finished_at) AS finished_at_ms
FROM ci.executions
PREWHERE repository_id = {repository_id: UUID} AND on_default AND test_id IN {test_ids: Array(UUID)}
WHERE commit_sha IN {commits: Array(String)} AND status != 'skipped'
