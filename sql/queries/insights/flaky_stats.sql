-- Flaky executions of one test in a window, by bucket: read from the verdicts (8 to 9 ms) rather than judged again (29 to 73 ms).
-- FINAL, because only the newest verdict on each execution counts.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_test_id = '8c0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c11';
SET param_start_ms = 1795219200000;
SET param_end_ms = 1795305600000;
SET param_width_ms = 3600000;
WITH (
  SELECT count() FROM ci.catalog WHERE repository_id = {repository_id: UUID} AND test_id = {test_id: UUID}
) AS known
SELECT known > 0 AS is_known, groupArray(CAST((bucket_ms, flaky), 'Tuple(start_ms Int64, flaky UInt64)')) AS buckets
FROM
(
  SELECT intDiv(toUnixTimestamp64Milli(finished_at), {width_ms: Int64}) * {width_ms: Int64} AS bucket_ms, count() AS flaky
  FROM ci.flaky_verdicts FINAL
  WHERE repository_id = {repository_id: UUID} AND test_id = {test_id: UUID}
    AND finished_at >= fromUnixTimestamp64Milli({start_ms: Int64}, 'UTC')
    AND finished_at < fromUnixTimestamp64Milli({end_ms: Int64}, 'UTC') AND is_flaky
  GROUP BY bucket_ms
)
