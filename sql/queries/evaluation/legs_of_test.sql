-- What tests did lately, and in which leg: of each the newest executions that passed or failed, on any branch, but for those
-- that prove nothing. Two ranges of the key for each, from which the newest are kept; nothing else of a row is read. An
-- execution without a commit stands for its run. Tests of one page share the statement: most of a small one is planning.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_test_ids = ['8c0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c11'];
SET param_start_ms = 1795219200000;
SET param_end_ms = 1795305600000;
SET param_executions = 50001;
SELECT
  toUInt32(indexOf({test_ids: Array(UUID)}, test_id)) AS place, toString(pipeline_name) AS pipeline, toString(job_name) AS job, toString(axes) AS leg,
  if(commit_sha = '', concat('run ', run_id), commit_sha) AS tested, toUInt16(toDate(finished_at)) AS day,
  status = 'failed' OR is_flaky AS is_failed
FROM ci.executions
WHERE repository_id = {repository_id: UUID} AND on_default IN (true, false) AND test_id IN {test_ids: Array(UUID)}
  AND finished_at >= fromUnixTimestamp64Milli({start_ms: Int64}, 'UTC')
  AND finished_at < fromUnixTimestamp64Milli({end_ms: Int64}, 'UTC')
  AND status != 'skipped' AND (on_default OR NOT is_confined)
ORDER BY place, finished_at DESC, execution_id DESC
LIMIT {executions: UInt32} BY place
