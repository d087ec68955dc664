-- Runs of a repository with executions since a moment and enough failures to be troubled. Runs are judged by UTC day; the day leads
-- the key, so old runs are not read.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_since_ms = 1790000000000;
SET param_failed_min = 10;
SELECT
  toUInt16(day) AS day_number, pipeline_name, job_name, run_id, run_attempt,
  toUnixTimestamp64Milli(min(first_at)) AS started_at_ms, sum(passed) AS passed_sum, sum(failed) AS failed_sum
FROM ci.runs
WHERE repository_id = {repository_id: UUID} AND day >= toDate(fromUnixTimestamp64Milli({since_ms: Int64}, 'UTC'), 'UTC')
GROUP BY day, pipeline_name, job_name, run_id, run_attempt
HAVING failed_sum >= {failed_min: UInt32} AND max(last_at) >= fromUnixTimestamp64Milli({since_ms: Int64}, 'UTC')
