-- How often some tests ran on the default branch in each hour since a moment: how many executions can be judged at once.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_test_ids = ['8c0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c11'];
SET param_since_ms = 1790000000000;
SELECT toUnixTimestamp(toStartOfHour(finished_at, 'UTC')) * 1000 AS hour_ms, count() AS executions
FROM ci.executions
WHERE repository_id = {repository_id: UUID} AND on_default AND test_id IN {test_ids: Array(UUID)} AND status != 'skipped'
  AND finished_at >= fromUnixTimestamp64Milli({since_ms: Int64}, 'UTC')
GROUP BY hour_ms
ORDER BY hour_ms
