-- The failed attempts of a few executions of a test, on any branch. The key leads to the failures of the test; the times of
-- the executions, to few of their granules where it failed often.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_test_id = '8c0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c11';
SET param_executions = [1];
SET param_start_ms = 1795219200000;
SET param_end_ms = 1795305600000;
SET param_with_texts = true;
SET param_rows = 1000;
SELECT
  toString(execution_id) AS execution, attempt, toString(failure_id) AS failure, exception_type AS type,
  exception_message AS message, if({with_texts: Bool}, stacktrace, '') AS stack, if({with_texts: Bool}, attachments, '') AS links
FROM ci.failures
WHERE repository_id = {repository_id: UUID} AND on_default IN (true, false) AND test_id = {test_id: UUID}
  AND failed_at >= fromUnixTimestamp64Milli({start_ms: Int64}, 'UTC')
  AND failed_at <= fromUnixTimestamp64Milli({end_ms: Int64}, 'UTC')
  AND execution_id IN {executions: Array(UInt64)}
ORDER BY execution_id, attempt
LIMIT {rows: UInt32}
