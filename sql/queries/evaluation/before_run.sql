-- When some tests last passed and last failed in a pipeline and CI job between two moments; 0 for never.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_test_ids = ['8c0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c11'];
SET param_start_ms = 1790000000000;
SET param_end_ms = 1790086400000;
SET param_pipeline_name = 'CI';
SET param_job_name = 'unit';
SELECT
  test_id, toUnixTimestamp64Milli(maxIf(finished_at, status = 'passed')) AS last_pass_ms,
  toUnixTimestamp64Milli(maxIf(finished_at, status = 'failed')) AS last_failure_ms
FROM ci.executions
WHERE repository_id = {repository_id: UUID} AND on_default AND test_id IN {test_ids: Array(UUID)}
  AND finished_at >= fromUnixTimestamp64Milli({start_ms: Int64}, 'UTC')
  AND finished_at < fromUnixTimestamp64Milli({end_ms: Int64}, 'UTC')
  AND pipeline_name = {pipeline_name: String} AND job_name = {job_name: String} AND status != 'skipped'
GROUP BY test_id
