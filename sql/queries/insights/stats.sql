-- Passes, failures and durations of one test in a window, by bucket: one range of the key, from the raw table. An hourly rollup is
-- slower for windows that are not aligned to hours (17.8 ms against 13.1).
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_test_id = '8c0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c11';
SET param_start_ms = 1795219200000;
SET param_end_ms = 1795305600000;
SET param_width_ms = 3600000;
WITH (
  SELECT count() FROM ci.catalog WHERE repository_id = {repository_id: UUID} AND test_id = {test_id: UUID}
) AS known
SELECT
  known > 0 AS is_known,
  groupArray(CAST(
    (bucket_ms, passed, failed, seconds), 'Tuple(start_ms Int64, passed UInt64, failed UInt64, seconds Float64)'
  )) AS buckets
FROM
(
  SELECT
    intDiv(toUnixTimestamp64Milli(finished_at), {width_ms: Int64}) * {width_ms: Int64} AS bucket_ms,
    countIf(status = 'passed') AS passed, countIf(status = 'failed') AS failed, sumIf(duration_s, status != 'skipped') AS seconds
  FROM ci.executions
  WHERE repository_id = {repository_id: UUID} AND on_default AND test_id = {test_id: UUID}
    AND finished_at >= fromUnixTimestamp64Milli({start_ms: Int64}, 'UTC')
    AND finished_at < fromUnixTimestamp64Milli({end_ms: Int64}, 'UTC')
  GROUP BY bucket_ms
)
