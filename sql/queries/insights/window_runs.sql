-- The runs of whole days, and of those around them in which what came before and after a run may lie (src/insights/day-values.ts);
-- for insights/red_runs.sql, insights/run_days.sql and insights/lanes.sql. A run is an attempt of a leg; one that spans midnight
-- belongs to the day on which it began. The day leads the key, so only these days are read.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_start_ms = 1795219200000;
SET param_end_ms = 1795305600000;
SET param_branches = [];
SELECT
  pipeline_name, job_name, axes, run_id, run_attempt, commit_sha, on_default, toUInt16(min(day)) AS run_day,
  max(pull_request) AS pull, max(branch) AS run_branch, max(place) AS run_place,
  toUnixTimestamp64Milli(min(first_at)) AS began_ms, toUnixTimestamp64Milli(max(last_at)) AS ended_ms, sum(passed) AS passes,
  sum(failed) > 0 AS is_red, groupUniqArrayArray(failed_tests) AS tests
FROM ci.commit_runs
WHERE repository_id = {repository_id: UUID}
  AND day >= toDate(fromUnixTimestamp64Milli(greatest({start_ms: Int64}, 172800000), 'UTC'), 'UTC') - 2
  AND day <= toDate(fromUnixTimestamp64Milli({end_ms: Int64}, 'UTC'), 'UTC') + 7
GROUP BY commit_sha, pipeline_name, run_id, job_name, axes, run_attempt, on_default
HAVING sum(passed) + sum(failed) > 0 AND (empty({branches: Array(String)}) OR run_branch IN {branches: Array(String)})
