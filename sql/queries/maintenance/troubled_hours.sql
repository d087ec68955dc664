-- How often tests that ever failed ran in each hour: how many executions can be judged at once.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_since_ms = 1790000000000;
SELECT toUnixTimestamp(toStartOfHour(finished_at, 'UTC')) * 1000 AS hour_ms, count() AS executions
FROM ci.executions
WHERE repository_id = {repository_id: UUID} AND on_default AND status != 'skipped'
  AND finished_at >= fromUnixTimestamp64Milli({since_ms: Int64}, 'UTC')
  AND test_id IN (/*include maintenance/troubled_tests*/)
GROUP BY hour_ms
ORDER BY hour_ms
