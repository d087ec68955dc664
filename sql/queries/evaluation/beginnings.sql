-- What is known of failures with which episodes began: the pull request that ran them, and their exception (of several attempts,
-- the first). On any branch. Ranges of the key of each test, in the months of the failures.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_test_ids = ['8c0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c11'];
SET param_execution_ids = [1];
SET param_from_ms = 1795219200000;
SET param_to_ms = 1795305600000;
SELECT
  toString(execution_id) AS execution_id, max(pull) AS pull_request, argMinIf(type, attempt, is_failure) AS exception_type,
  countIf(is_failure) > 0 AS has_failure
FROM
(
  SELECT execution_id, pull_request AS pull, '' AS type, toUInt16(0) AS attempt, false AS is_failure
  FROM ci.executions
  WHERE repository_id = {repository_id: UUID} AND on_default IN (true, false) AND test_id IN {test_ids: Array(UUID)}
    AND finished_at >= fromUnixTimestamp64Milli({from_ms: Int64}, 'UTC')
    AND finished_at <= fromUnixTimestamp64Milli({to_ms: Int64}, 'UTC')
    AND execution_id IN {execution_ids: Array(UInt64)}
  UNION ALL
  SELECT execution_id, 0 AS pull, exception_type AS type, attempt, true AS is_failure
  FROM ci.failures
  WHERE repository_id = {repository_id: UUID} AND on_default IN (true, false) AND test_id IN {test_ids: Array(UUID)}
    AND failed_at >= fromUnixTimestamp64Milli({from_ms: Int64}, 'UTC')
    AND failed_at <= fromUnixTimestamp64Milli({to_ms: Int64}, 'UTC')
    AND execution_id IN {execution_ids: Array(UInt64)}
)
GROUP BY execution_id
