-- The failure groups of a test, of executions in legs with some values of axes only: PostgreSQL counts them for all legs
-- together. The failed executions of a test are one range of the key, and so are its failures.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_test_id = '8c0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c11';
SET param_axis_names = ['os'];
SET param_axis_pairs = ['os:linux', 'os:windows'];
SET param_groups = 1000;
SELECT
  toString(failure_id) AS failure, toInt64(count()) AS events, toUnixTimestamp64Milli(min(failed_at)) AS first_ms,
  toUnixTimestamp64Milli(max(failed_at)) AS last_ms,
  argMax(exception_type, (failed_at, execution_id, attempt)) AS type,
  argMax(exception_message, (failed_at, execution_id, attempt)) AS message
FROM ci.failures
WHERE repository_id = {repository_id: UUID} AND on_default AND test_id = {test_id: UUID}
  AND execution_id IN
  (
    SELECT execution_id
    FROM ci.executions
    WHERE repository_id = {repository_id: UUID} AND on_default AND test_id = {test_id: UUID} AND failures > 0
      AND arrayAll(name -> has({axis_pairs: Array(String)}, concat(name, ':', JSONExtractString(toString(axes), name))),
        {axis_names: Array(String)})
  )
GROUP BY failure_id
ORDER BY last_ms DESC, failure_id
LIMIT {groups: UInt32}
