-- One failure group and its newest failures, from one range of the key. `events` is 0 for a group that does not exist.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_test_id = '8c0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c11';
SET param_failure_id = '8c0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c12';
SET param_latest = 10;
WITH (
  SELECT groupArray(CAST(
    (at_ms, execution, attempt, type, message, stack, links, path, programming_language, url),
    'Tuple(failed_ms Int64, execution_id String, attempt UInt64, type String, message String, stacktrace String,
      attachments String, filepath String, language String, job_url String)'
  ))
  FROM
  (
    SELECT
      toUnixTimestamp64Milli(failed_at) AS at_ms, toString(execution_id) AS execution, attempt, exception_type AS type,
      exception_message AS message, stacktrace AS stack, attachments AS links, filepath AS path, toString(language) AS programming_language, job_url AS url
    FROM ci.failures
    WHERE repository_id = {repository_id: UUID} AND on_default AND test_id = {test_id: UUID}
      AND failure_id = {failure_id: UUID}
    ORDER BY failed_at DESC, execution_id DESC, attempt DESC
    LIMIT {latest: UInt32}
  )
) AS latest_events
SELECT
  count() AS events, toUnixTimestamp64Milli(min(failed_at)) AS first_ms, toUnixTimestamp64Milli(max(failed_at)) AS last_ms,
  latest_events
FROM ci.failures
WHERE repository_id = {repository_id: UUID} AND on_default AND test_id = {test_id: UUID} AND failure_id = {failure_id: UUID}
