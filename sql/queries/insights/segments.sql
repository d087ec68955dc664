-- What one test did on the default branch, commit by commit, in a window: a range of the key. Which executions count as flaky is
-- a list, because PostgreSQL has it. An execution without a commit stands for its run. With names of axes, only legs that have
-- one of the pairs for each of them count.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_test_id = '8c0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c11';
SET param_start_ms = 1795219200000;
SET param_end_ms = 1795305600000;
SET param_flaky_ids = [1];
SET param_commits = 10001;
SET param_axis_names = [];
SET param_axis_pairs = [];
SELECT
  any(commit_sha) AS commit, toUnixTimestamp64Milli(min(finished_at)) AS first_ms, toUnixTimestamp64Milli(max(finished_at)) AS last_ms,
  toInt64(countIf(status = 'passed')) AS passed, toInt64(countIf(status = 'failed')) AS failed,
  toInt64(countIf(status = 'skipped')) AS skipped, toInt64(countIf(execution_id IN {flaky_ids: Array(UInt64)})) AS flaky,
  groupArrayIf(CAST((toUInt16(toDate(finished_at, 'UTC')), toString(pipeline_name), toString(job_name), toString(axes), run_id,
    run_attempt), 'Tuple(day UInt16, pipeline String, job String, axes String, run String, attempt UInt32)'), status = 'failed') AS failed_in
FROM ci.executions
WHERE repository_id = {repository_id: UUID} AND on_default AND test_id = {test_id: UUID}
  AND finished_at >= fromUnixTimestamp64Milli({start_ms: Int64}, 'UTC')
  AND finished_at < fromUnixTimestamp64Milli({end_ms: Int64}, 'UTC')
  AND (empty({axis_names: Array(String)})
    OR arrayAll(name -> has({axis_pairs: Array(String)}, concat(name, ':', JSONExtractString(toString(axes), name))),
      {axis_names: Array(String)}))
GROUP BY if(commit_sha = '', concat('run ', run_id), commit_sha)
ORDER BY first_ms DESC, commit DESC
LIMIT {commits: UInt32}
