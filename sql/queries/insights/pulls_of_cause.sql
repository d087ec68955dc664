-- The pull requests that failed in some groups of some tests, the newest first. Tests and groups lead both keys; off the
-- default branch a test fails seldom.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_test_ids = ['8c0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c11'];
SET param_failure_ids = ['8c0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c12'];
SET param_limit = 100;
SELECT pull_request AS number, count() AS failed, toUnixTimestamp64Milli(max(finished_at)) AS last_ms
FROM ci.executions AS executions
WHERE repository_id = {repository_id: UUID} AND NOT on_default AND test_id IN {test_ids: Array(UUID)}
  AND executions.failures > 0 AND pull_request > 0
  AND (test_id, execution_id) IN (
    SELECT test_id, execution_id FROM ci.failures
    WHERE repository_id = {repository_id: UUID} AND NOT on_default AND test_id IN {test_ids: Array(UUID)}
      AND failure_id IN {failure_ids: Array(UUID)}
  )
GROUP BY pull_request
ORDER BY last_ms DESC, number
LIMIT {limit: UInt32}
