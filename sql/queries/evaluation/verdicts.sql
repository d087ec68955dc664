-- Executions of some tests since a moment that are judged flaky. FINAL, because only the newest verdict on each
-- counts.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_test_ids = ['8c0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c11'];
SET param_since_ms = 1790000000000;
SELECT test_id, toString(execution_id) AS execution_id, toUnixTimestamp64Milli(finished_at) AS finished_at_ms, rule
FROM ci.flaky_verdicts FINAL
WHERE repository_id = {repository_id: UUID} AND test_id IN {test_ids: Array(UUID)}
  AND finished_at >= fromUnixTimestamp64Milli({since_ms: Int64}, 'UTC') AND is_flaky
