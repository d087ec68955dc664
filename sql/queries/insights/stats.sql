-- Passes, failures and durations of tests by bucket, each test in its own window: a range of the key for each, from the raw
-- table. An hourly rollup is slower for windows that are not aligned to hours (17.8 ms against 13.1). Tests that are asked for
-- at the same time share the statement, because it costs little more for 64 of them than for one; each is in it once. The
-- window of a row is found by its place in the parameters: planning a join would take longer than reading the rows.
SET param_repository_ids = ['5beeaeba-a982-5c8b-8869-7caf1b9175bf'];
SET param_test_ids = ['8c0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c11'];
SET param_starts_ms = [1795219200000];
SET param_ends_ms = [1795305600000];
SET param_widths_ms = [3600000];
WITH
  toUInt32(indexOf({test_ids: Array(UUID)}, test_id)) AS place,
  toUnixTimestamp64Milli(finished_at) AS at_ms,
  {widths_ms: Array(Int64)}[place] AS width_ms
SELECT
  place, intDiv(at_ms, width_ms) * width_ms AS bucket_ms,
  countIf(status = 'passed') AS passed, countIf(status = 'failed') AS failed, sumIf(duration_s, status != 'skipped') AS seconds
FROM ci.executions
WHERE on_default AND (repository_id, test_id) IN arrayZip({repository_ids: Array(UUID)}, {test_ids: Array(UUID)})
  AND finished_at >= fromUnixTimestamp64Milli(arrayMin({starts_ms: Array(Int64)}), 'UTC')
  AND finished_at < fromUnixTimestamp64Milli(arrayMax({ends_ms: Array(Int64)}), 'UTC')
  AND at_ms >= {starts_ms: Array(Int64)}[place] AND at_ms < {ends_ms: Array(Int64)}[place]
GROUP BY place, bucket_ms
