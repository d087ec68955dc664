-- Which of some tests have run since a moment, on any branch. A range of the key for each test and side of the default branch.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_test_ids = ['8c0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c11'];
SET param_since_ms = 1795651200000;
SELECT DISTINCT test_id
FROM ci.executions
WHERE repository_id = {repository_id: UUID} AND on_default IN (true, false) AND test_id IN {test_ids: Array(UUID)}
  AND finished_at >= fromUnixTimestamp64Milli({since_ms: Int64}, 'UTC')
