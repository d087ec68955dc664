-- The details of one test: five lookups by key in one statement. `identities` is 0 for a test never seen on the default branch.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_test_id = '8c0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c11';
SET param_since_ms = 1792713600000;
WITH
  (
    SELECT (countIf(status = 'passed'), countIf(status = 'failed')) FROM ci.executions
    WHERE repository_id = {repository_id: UUID} AND on_default AND test_id = {test_id: UUID}
      AND finished_at >= fromUnixTimestamp64Milli({since_ms: Int64}, 'UTC')
  ) AS recent,
  (
    SELECT count() FROM ci.flaky_verdicts FINAL
    WHERE repository_id = {repository_id: UUID} AND test_id = {test_id: UUID}
      AND finished_at >= fromUnixTimestamp64Milli({since_ms: Int64}, 'UTC') AND is_flaky
  ) AS recent_flaky,
  (
    SELECT groupArray(CAST(
      (toString(health), toUnixTimestamp64Milli(newest_at)), 'Tuple(health String, newest_ms Int64)'
    )) FROM ci.health FINAL
    WHERE repository_id = {repository_id: UUID} AND test_id = {test_id: UUID}
  ) AS healths,
  (
    SELECT groupArray(earliest) FROM
    (
      SELECT min(first) AS earliest FROM ci.first_failures
      WHERE repository_id = {repository_id: UUID} AND test_id = {test_id: UUID} GROUP BY test_id
    )
  ) AS first_failures
SELECT
  count() AS identities,
  anyLast(test_name) AS name,
  toUnixTimestamp64Milli(max(last_success_at)) AS last_success_ms,
  toUnixTimestamp64Milli(max(last_failure_at)) AS last_failure_ms,
  max(last) AS newest,
  toString(tupleElement(newest, 'status')) AS last_status,
  tupleElement(newest, 'framework') AS last_framework,
  tupleElement(newest, 'framework_version') AS last_framework_version,
  tupleElement(newest, 'language') AS last_language,
  tupleElement(newest, 'filepath') AS last_filepath,
  tupleElement(newest, 'function') AS last_function,
  recent.1 AS passed, recent.2 AS failed, recent_flaky AS flaky, healths,
  arrayMap(
    first -> CAST(
      (toUnixTimestamp64Milli(tupleElement(first, 1)), tupleElement(first, 3)), 'Tuple(failed_ms Int64, commit String)'
    ),
    first_failures
  ) AS first_failure
FROM ci.catalog
WHERE repository_id = {repository_id: UUID} AND test_id = {test_id: UUID}
