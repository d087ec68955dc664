-- The tests that went wrong on the default branch since a moment: no other can have been quarantined automatically after it. The key
-- ends at the time, so the months before are left out and those after are read once.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_since_ms = 1790000000000;
SELECT test_id, any(test_name) AS test_name
FROM ci.executions
WHERE repository_id = {repository_id: UUID} AND on_default AND (status = 'failed' OR (status = 'passed' AND is_flaky))
  AND finished_at >= fromUnixTimestamp64Milli({since_ms: Int64}, 'UTC')
GROUP BY test_id
ORDER BY test_id
