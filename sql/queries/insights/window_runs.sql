-- The runs of a window, and of two days after it, in which what came after them may lie; for insights/red_runs.sql and
-- insights/run_days.sql. The day leads the key, so only these days are read.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_start_ms = 1795219200000;
SET param_end_ms = 1795305600000;
SET param_branches = [];
SELECT
  pipeline_name, job_name, axes, run_id, run_attempt, commit_sha, on_default, toUInt16(min(day)) AS run_day,
  max(pull_request) AS pull, max(branch) AS run_branch, toUnixTimestamp64Milli(min(first_at)) AS began_ms,
  toUnixTimestamp64Milli(max(last_at)) AS ended_ms, sum(passed) AS passes, sum(failed) > 0 AS is_red,
  groupUniqArrayArray(failed_tests) AS tests
FROM ci.commit_runs
WHERE repository_id = {repository_id: UUID}
  AND day >= toDate(fromUnixTimestamp64Milli(greatest({start_ms: Int64}, 86400000), 'UTC'), 'UTC') - 1
  AND day <= toDate(fromUnixTimestamp64Milli({end_ms: Int64}, 'UTC'), 'UTC') + 2
GROUP BY commit_sha, pipeline_name, run_id, job_name, axes, run_attempt, on_default
HAVING sum(passed) + sum(failed) > 0 AND (empty({branches: Array(String)}) OR run_branch IN {branches: Array(String)})
