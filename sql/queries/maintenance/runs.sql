-- The totals of a repository's runs since a day. The day follows the repository in the key.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_since_ms = 1790000000000;
SELECT
  toUInt16(day) AS day_number, pipeline_name, job_name, axes, run_id, run_attempt,
  toUnixTimestamp64Milli(min(first_at)) AS started_at_ms, sum(passed) + sum(failed) AS executions
FROM ci.runs
WHERE repository_id = {repository_id: UUID} AND day >= toDate(fromUnixTimestamp64Milli({since_ms: Int64}, 'UTC'), 'UTC')
GROUP BY day, pipeline_name, job_name, axes, run_id, run_attempt
