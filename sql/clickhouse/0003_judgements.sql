-- When an execution was received, so that an explanation as of a moment can tell which executions arrived later. 0 for
-- executions stored before this column existed.
ALTER TABLE ci.ingest ADD COLUMN IF NOT EXISTS received_ms Int64;

ALTER TABLE ci.executions ADD COLUMN IF NOT EXISTS received_at DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1));

ALTER TABLE ci.ingest_to_executions MODIFY QUERY
SELECT
  repository_id, on_default, test_id, fromUnixTimestamp64Milli(finished_ms, 'UTC') AS finished_at, execution_id,
  status, is_flaky, is_quarantined, is_retried, is_time_replaced, duration_s, pipeline_name, job_name, run_id,
  run_attempt, commit_sha, branch, base_ref, pull_request, test_name, filepath, function, framework,
  framework_version, language, job_url, failures, fromUnixTimestamp64Milli(received_ms, 'UTC') AS received_at
FROM ci.ingest
ARRAY JOIN
  e_execution_id AS execution_id, e_test_id AS test_id, e_test_name AS test_name, e_status AS status,
  e_duration_s AS duration_s, e_finished_ms AS finished_ms, e_filepath AS filepath, e_function AS function,
  e_is_flaky AS is_flaky, e_is_quarantined AS is_quarantined, e_is_retried AS is_retried,
  e_is_time_replaced AS is_time_replaced, e_failures AS failures;

-- One row per attempt of a pipeline and CI job on the default branch, and UTC day: how often it passed and failed. It shows
-- a run in which much fails at once without reading its executions. The day leads the key, because the newest runs are
-- read.
CREATE TABLE IF NOT EXISTS ci.runs
(
  repository_id UUID,
  day Date,
  pipeline_name String,
  job_name String,
  run_id String,
  run_attempt UInt32,
  first_at SimpleAggregateFunction(min, DateTime64(3, 'UTC')),
  last_at SimpleAggregateFunction(max, DateTime64(3, 'UTC')),
  passed SimpleAggregateFunction(sum, UInt64),
  failed SimpleAggregateFunction(sum, UInt64)
)
ENGINE = AggregatingMergeTree
PARTITION BY toYYYYMM(day)
ORDER BY (repository_id, day, pipeline_name, job_name, run_id, run_attempt)
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 10000;

-- One row for each day of a chunk, which is almost always one. Counting within the arrays costs half as much as unfolding
-- them.
CREATE MATERIALIZED VIEW IF NOT EXISTS ci.ingest_to_runs TO ci.runs AS
WITH
  arrayFilter((ms, status) -> status != 'skipped' AND intDiv(ms, 86400000) = day_number, e_finished_ms, e_status) AS times
SELECT
  repository_id, toDate(day_number) AS day, pipeline_name, job_name, run_id, run_attempt,
  fromUnixTimestamp64Milli(arrayMin(times), 'UTC') AS first_at,
  fromUnixTimestamp64Milli(arrayMax(times), 'UTC') AS last_at,
  arrayCount((status, ms) -> status = 'passed' AND intDiv(ms, 86400000) = day_number, e_status, e_finished_ms) AS passed,
  arrayCount((status, ms) -> status = 'failed' AND intDiv(ms, 86400000) = day_number, e_status, e_finished_ms) AS failed
FROM ci.ingest
ARRAY JOIN arrayDistinct(arrayMap(ms -> toUInt16(intDiv(ms, 86400000)), e_finished_ms)) AS day_number
WHERE on_default AND notEmpty(times);

-- Troubled runs, as judged by the evaluation. There are few.
CREATE TABLE IF NOT EXISTS ci.troubled_runs
(
  repository_id UUID,
  day Date,
  pipeline_name String,
  job_name String,
  run_id String,
  run_attempt UInt32,
  trouble Enum8('none' = 1, 'partial' = 2, 'total' = 3),
  version UInt64
)
ENGINE = ReplacingMergeTree(version)
PARTITION BY toYYYYMM(day)
ORDER BY (repository_id, day, pipeline_name, job_name, run_id, run_attempt)
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 10000;
