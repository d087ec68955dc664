-- The tests that failed in one run, or passed in it only after failed attempts. Read only for runs that may be troubled: the day
-- limits the months, but all tests of the repository are read.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_start_ms = 1790000000000;
SET param_end_ms = 1790086400000;
SET param_pipeline_name = 'CI';
SET param_job_name = 'unit';
SET param_run_id = '1';
SET param_run_attempt = 1;
SELECT test_id, countIf(status = 'failed') AS failures
FROM ci.executions
PREWHERE repository_id = {repository_id: UUID} AND on_default
  AND finished_at >= fromUnixTimestamp64Milli({start_ms: Int64}, 'UTC')
  AND finished_at < fromUnixTimestamp64Milli({end_ms: Int64}, 'UTC')
WHERE run_id = {run_id: String} AND run_attempt = {run_attempt: UInt32} AND pipeline_name = {pipeline_name: String}
  AND job_name = {job_name: String} AND (status = 'failed' OR (status = 'passed' AND is_flaky))
GROUP BY test_id
