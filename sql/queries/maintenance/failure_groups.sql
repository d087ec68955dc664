-- The failure groups of some tests, by month.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_test_ids = ['8c0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c11'];
SELECT
  test_id, failure_id, toYYYYMM(failed_at) AS month, count() AS failures,
  toUnixTimestamp64Milli(min(failed_at)) AS first_ms,
  max((toUnixTimestamp64Milli(failed_at), execution_id, attempt)) AS newest,
  newest.1 AS last_ms, toString(newest.2) AS last_execution, newest.3 AS last_attempt,
  argMax(exception_type, (failed_at, execution_id, attempt)) AS type,
  argMax(exception_message, (failed_at, execution_id, attempt)) AS message
FROM ci.failures
WHERE repository_id = {repository_id: UUID} AND on_default AND test_id IN {test_ids: Array(UUID)}
GROUP BY test_id, failure_id, month
