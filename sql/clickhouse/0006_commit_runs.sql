-- One row per attempt of a pipeline and CI job on a commit, and UTC day, on any branch: how its tests ended, and which of
-- them failed. It shows the runs of a repository, and leads from a commit to its failures in the raw tables, whose keys
-- begin with the test. The day leads the key, because the newest runs are read; within a day, a commit is one range, which
-- the bloom filter finds. Failed tests are kept as ids: hardly any run has many.
CREATE TABLE IF NOT EXISTS ci.commit_runs
(
  repository_id UUID,
  day Date,
  commit_sha String,
  pipeline_name String,
  run_id String,
  job_name String,
  run_attempt UInt32,
  on_default Bool,
  branch SimpleAggregateFunction(max, String) CODEC(ZSTD(1)),
  base_ref SimpleAggregateFunction(max, String) CODEC(ZSTD(1)),
  pull_request SimpleAggregateFunction(max, UInt32) CODEC(ZSTD(1)),
  job_url SimpleAggregateFunction(max, String) CODEC(ZSTD(1)),
  first_at SimpleAggregateFunction(min, DateTime64(3, 'UTC')),
  last_at SimpleAggregateFunction(max, DateTime64(3, 'UTC')),
  passed SimpleAggregateFunction(sum, UInt64),
  failed SimpleAggregateFunction(sum, UInt64),
  skipped SimpleAggregateFunction(sum, UInt64),
  failed_tests SimpleAggregateFunction(groupUniqArrayArray, Array(UUID)) CODEC(ZSTD(1)),
  INDEX commits commit_sha TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = AggregatingMergeTree
PARTITION BY toYYYYMM(day)
ORDER BY (repository_id, day, commit_sha, pipeline_name, run_id, job_name, run_attempt, on_default)
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 10000, fsync_after_insert = 1,
  fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1;

-- One row for each day of a chunk, counted within its arrays.
CREATE MATERIALIZED VIEW IF NOT EXISTS ci.ingest_to_commit_runs TO ci.commit_runs AS
WITH
  arrayMap(ms -> intDiv(ms, 86400000) = day_number, e_finished_ms) AS is_of_day,
  arrayFilter((ms, is_counted) -> is_counted, e_finished_ms, is_of_day) AS times
SELECT
  repository_id, toDate(day_number) AS day, commit_sha, pipeline_name, run_id, job_name, run_attempt, on_default,
  branch, base_ref, pull_request, job_url,
  fromUnixTimestamp64Milli(arrayMin(times), 'UTC') AS first_at,
  fromUnixTimestamp64Milli(arrayMax(times), 'UTC') AS last_at,
  arrayCount((status, is_counted) -> is_counted AND status = 'passed', e_status, is_of_day) AS passed,
  arrayCount((status, is_counted) -> is_counted AND status = 'failed', e_status, is_of_day) AS failed,
  arrayCount((status, is_counted) -> is_counted AND status = 'skipped', e_status, is_of_day) AS skipped,
  arrayDistinct(arrayFilter((id, status, is_counted) -> is_counted AND status = 'failed', e_test_id, e_status, is_of_day))
    AS failed_tests
FROM ci.ingest
ARRAY JOIN arrayDistinct(arrayMap(ms -> toUInt16(intDiv(ms, 86400000)), e_finished_ms)) AS day_number;
