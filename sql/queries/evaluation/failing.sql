-- Which of some tests failed, on some commits and lately. Without a failure there is nothing to contradict or repeat, and most
-- tests have none. The status, one byte per row and almost always the same, is read before the rest.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_test_ids = ['8c0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c11'];
SET param_commits = ['1111111111111111111111111111111111111111'];
SET param_since_ms = 1790000000000;
SELECT
  test_id, countIf(commit_sha IN {commits: Array(String)}) AS on_commits,
  countIf(finished_at >= fromUnixTimestamp64Milli({since_ms: Int64}, 'UTC')) AS lately,
  toUnixTimestamp64Milli(max(finished_at)) AS newest_at_ms
FROM ci.executions
PREWHERE repository_id = {repository_id: UUID} AND on_default AND test_id IN {test_ids: Array(UUID)} AND status = 'failed'
GROUP BY test_id
