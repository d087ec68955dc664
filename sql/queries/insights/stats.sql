-- Passes, failures and durations of tests by bucket, each test in its own window: a range of the key for each, from the raw
-- table. An hourly rollup is slower for windows that are not aligned to hours (17.8 ms against 13.1). Tests that are asked for
-- at the same time share the statement, because it costs little more for 64 of them than for one.
SET param_repository_ids = ['5beeaeba-a982-5c8b-8869-7caf1b9175bf'];
SET param_test_ids = ['8c0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c11'];
SET param_starts_ms = [1795219200000];
SET param_ends_ms = [1795305600000];
SET param_widths_ms = [3600000];
WITH windows AS
(
  SELECT place, repository_id, test_id, start_ms, end_ms, width_ms
  FROM system.one
  ARRAY JOIN
    arrayEnumerate({test_ids: Array(UUID)}) AS place, {repository_ids: Array(UUID)} AS repository_id,
    {test_ids: Array(UUID)} AS test_id, {starts_ms: Array(Int64)} AS start_ms, {ends_ms: Array(Int64)} AS end_ms,
    {widths_ms: Array(Int64)} AS width_ms
)
SELECT
  toUInt32(place) AS place, intDiv(toUnixTimestamp64Milli(finished_at), width_ms) * width_ms AS bucket_ms,
  countIf(status = 'passed') AS passed, countIf(status = 'failed') AS failed, sumIf(duration_s, status != 'skipped') AS seconds
FROM ci.executions AS executions
INNER JOIN windows ON windows.repository_id = executions.repository_id AND windows.test_id = executions.test_id
WHERE on_default AND (executions.repository_id, executions.test_id) IN arrayZip({repository_ids: Array(UUID)}, {test_ids: Array(UUID)})
  AND finished_at >= fromUnixTimestamp64Milli(arrayMin({starts_ms: Array(Int64)}), 'UTC')
  AND finished_at < fromUnixTimestamp64Milli(arrayMax({ends_ms: Array(Int64)}), 'UTC')
  AND toUnixTimestamp64Milli(finished_at) >= start_ms AND toUnixTimestamp64Milli(finished_at) < end_ms
GROUP BY place, bucket_ms
