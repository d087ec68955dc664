-- The executions of a test before its failures began, and the first that failed: what says which commits a cause began
-- between. A range of the key; the leg is that in which it failed first.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_test_id = '8c0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c11';
SET param_from_ms = 1794096000000;
SET param_began_ms = 1795219200000;
WITH (
  SELECT (pipeline_name, job_name, axes, commit_sha)
  FROM ci.executions
  WHERE repository_id = {repository_id: UUID} AND on_default AND test_id = {test_id: UUID}
    AND finished_at = fromUnixTimestamp64Milli({began_ms: Int64}, 'UTC') AND failures > 0
  ORDER BY execution_id
  LIMIT 1
) AS began
SELECT
  began.1 AS pipeline_name, began.2 AS job_name, began.3 AS axes, began.4 AS failed_commit,
  argMax(commit_sha, (finished_at, execution_id)) AS passed_commit, count() AS passes,
  toUnixTimestamp64Milli(max(finished_at)) AS passed_ms,
  countIf(commit_sha = began.4) AS passes_there
FROM ci.executions
WHERE repository_id = {repository_id: UUID} AND on_default AND test_id = {test_id: UUID} AND status = 'passed'
  AND failures = 0
  AND finished_at >= fromUnixTimestamp64Milli({from_ms: Int64}, 'UTC')
  AND finished_at < fromUnixTimestamp64Milli({began_ms: Int64}, 'UTC')
  AND (pipeline_name, job_name, axes) = (began.1, began.2, began.3)
