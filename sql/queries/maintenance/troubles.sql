-- What went wrong between two moments, by run and test.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_from_ms = 1790000000000;
SET param_to_ms = 1790086400000;
SELECT
  toUInt16(toDate(finished_at, 'UTC')) AS day_number, pipeline_name, job_name, axes, run_id, run_attempt,
  groupUniqArray(toString(test_id)) AS test_ids
FROM ci.executions
WHERE repository_id = {repository_id: UUID} AND on_default AND status != 'skipped' AND (status = 'failed' OR is_flaky)
  AND finished_at >= fromUnixTimestamp64Milli({from_ms: Int64}, 'UTC')
  AND finished_at < fromUnixTimestamp64Milli({to_ms: Int64}, 'UTC')
GROUP BY day_number, pipeline_name, job_name, axes, run_id, run_attempt
