-- When a test first ran, as far as that is retained, and the exceptions of some of its executions: ranges of the key of one
-- test.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_test_id = '8c0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c11';
SET param_execution_ids = [1];
SELECT
  (
    SELECT toUnixTimestamp64Milli(min(finished_at))
    FROM ci.executions
    WHERE repository_id = {repository_id: UUID} AND on_default AND test_id = {test_id: UUID}
  ) AS first_ms,
  (
    SELECT groupArray(CAST((toString(execution_id), exception_type), 'Tuple(execution_id String, type String)'))
    FROM
    (
      SELECT execution_id, exception_type
      FROM ci.failures
      WHERE repository_id = {repository_id: UUID} AND on_default AND test_id = {test_id: UUID}
        AND execution_id IN {execution_ids: Array(UInt64)}
      ORDER BY execution_id, attempt
      LIMIT 1 BY execution_id
    )
  ) AS causes
