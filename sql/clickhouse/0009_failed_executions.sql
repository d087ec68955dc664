-- Which executions failed in a run, each with its test and time (milliseconds since the epoch): what quarantines have excused
-- is read from the failures, and not from among all executions of the quarantined tests. Rows of older versions get theirs
-- when the service starts.
ALTER TABLE ci.commit_runs ADD COLUMN IF NOT EXISTS failed_executions SimpleAggregateFunction(groupUniqArrayArray,
  Array(Tuple(test_id UUID, execution_id UInt64, finished_ms Int64))) CODEC(ZSTD(1));

ALTER TABLE ci.ingest_to_commit_runs MODIFY QUERY
WITH
  arrayMap(ms -> intDiv(ms, 86400000) = day_number, e_finished_ms) AS is_of_day,
  arrayFilter((ms, is_counted) -> is_counted, e_finished_ms, is_of_day) AS times,
  arrayFilter((execution, status, is_counted) -> is_counted AND status = 'failed',
    arrayZip(e_test_id, e_execution_id, e_finished_ms), e_status, is_of_day) AS failures
SELECT
  repository_id, toDate(day_number) AS day, commit_sha, pipeline_name, run_id, job_name, run_attempt, on_default,
  branch, base_ref, pull_request, job_url,
  fromUnixTimestamp64Milli(arrayMin(times), 'UTC') AS first_at,
  fromUnixTimestamp64Milli(arrayMax(times), 'UTC') AS last_at,
  arrayCount((status, is_counted) -> is_counted AND status = 'passed', e_status, is_of_day) AS passed,
  length(failures) AS failed,
  arrayCount((status, is_counted) -> is_counted AND status = 'skipped', e_status, is_of_day) AS skipped,
  arrayDistinct(arrayMap(execution -> execution.1, failures)) AS failed_tests,
  CAST(failures, 'Array(Tuple(test_id UUID, execution_id UInt64, finished_ms Int64))') AS failed_executions
FROM ci.ingest
ARRAY JOIN arrayDistinct(arrayMap(ms -> toUInt16(intDiv(ms, 86400000)), e_finished_ms)) AS day_number;
