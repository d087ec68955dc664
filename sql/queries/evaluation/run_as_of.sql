-- The totals of one run as of a moment within it, for an explanation. Everything else uses the totals in ci.runs.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_start_ms = 1790000000000;
SET param_end_ms = 1790086400000;
SET param_pipeline_name = 'CI';
SET param_job_name = 'unit';
SET param_run_id = '1';
SET param_run_attempt = 1;
SELECT
  toUnixTimestamp64Milli(min(finished_at)) AS started_at_ms, countIf(status = 'passed') AS passed_sum, countIf(status = 'failed') AS failed_sum
FROM ci.executions
PREWHERE repository_id = {repository_id: UUID} AND on_default
  AND finished_at >= fromUnixTimestamp64Milli({start_ms: Int64}, 'UTC')
  AND finished_at < fromUnixTimestamp64Milli({end_ms: Int64}, 'UTC')
WHERE run_id = {run_id: String} AND run_attempt = {run_attempt: UInt32} AND pipeline_name = {pipeline_name: String}
  AND job_name = {job_name: String} AND status != 'skipped'
