-- How many runs of a window began on each UTC day. The day leads the key, so only these days are read.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_start_ms = 1795219200000;
SET param_end_ms = 1795305600000;
SET param_branches = [];
SELECT toUInt16(run_day) AS day_number, count() AS runs
FROM
(
  SELECT min(day) AS run_day, min(first_at) AS began_at, max(branch) AS run_branch
  FROM ci.commit_runs
  WHERE repository_id = {repository_id: UUID}
    AND day >= toDate(fromUnixTimestamp64Milli(greatest({start_ms: Int64}, 86400000), 'UTC'), 'UTC') - 1
    AND day <= toDate(fromUnixTimestamp64Milli({end_ms: Int64}, 'UTC'), 'UTC') + 1
  GROUP BY commit_sha, pipeline_name, run_id, job_name, axes, run_attempt, on_default
  HAVING sum(passed) + sum(failed) > 0
    AND began_at >= fromUnixTimestamp64Milli({start_ms: Int64}, 'UTC') AND began_at < fromUnixTimestamp64Milli({end_ms: Int64}, 'UTC')
    AND (empty({branches: Array(String)}) OR run_branch IN {branches: Array(String)})
)
GROUP BY day_number
