-- The failure groups of one test, newest first. The key is already sorted by group. The texts are those of the newest failure.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_test_id = '8c0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c11';
SET param_groups = 1000;
WITH (
  SELECT count() FROM ci.catalog WHERE repository_id = {repository_id: UUID} AND test_id = {test_id: UUID}
) AS known
SELECT
  known > 0 AS is_known,
  groupArray(CAST(
    (id, type, message, events, first_ms, last_ms),
    'Tuple(id String, type String, message String, events UInt64, first_ms Int64, last_ms Int64)'
  )) AS failure_groups
FROM
(
  SELECT
    toString(failure_id) AS id,
    argMax(exception_type, (failed_at, execution_id, attempt)) AS type,
    argMax(exception_message, (failed_at, execution_id, attempt)) AS message,
    count() AS events,
    toUnixTimestamp64Milli(min(failed_at)) AS first_ms,
    toUnixTimestamp64Milli(max(failed_at)) AS last_ms
  FROM ci.failures
  WHERE repository_id = {repository_id: UUID} AND on_default AND test_id = {test_id: UUID}
  GROUP BY failure_id
  ORDER BY last_ms DESC, id ASC
  LIMIT {groups: UInt32}
)
