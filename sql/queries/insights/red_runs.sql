-- The red runs of a window with what came after them, and the green ones that ran again although nothing was red in their
-- attempt (`is_outside`). `rerun_ms` is the length of the next attempt of the leg, -1 for none; `green_ms` when the next green run
-- of the leg on the same change ended, 0 for none. A change is a pull request, else a commit. `always_failed` are the tests that
-- failed in every run of the leg on the commit. The day leads the key: only the days of the window are read, and two more, in
-- which what came after may lie. 100,000 runs take about 0.3 s.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_start_ms = 1795219200000;
SET param_end_ms = 1795305600000;
SET param_branches = [];
SELECT
  toUnixTimestamp64Milli(began_at) AS began_ms, toUnixTimestamp64Milli(finished_at) AS ended_ms, pipeline_name, job_name, axes, run_id,
  run_attempt, commit_sha, on_default, pull, run_day, passes, tests, rerun_ms, green_ms, is_outside,
  arrayIntersect(tests, always) AS always_failed
FROM
(
  SELECT
    *, is_red = 0 AND rerun_ms >= 0 AND attempt_reds = 0 AS is_outside,
    leadInFrame(toInt64(toUnixTimestamp64Milli(finished_at) - toUnixTimestamp64Milli(began_at)), 1, toInt64(-1)) OVER attempts AS rerun_ms,
    sum(is_red) OVER (PARTITION BY pipeline_name, run_id, commit_sha, run_attempt) AS attempt_reds,
    minIf(toUnixTimestamp64Milli(finished_at), is_red = 0) OVER later AS green_ms,
    groupArrayIntersect(tests) OVER (PARTITION BY commit_sha, pipeline_name, job_name, axes) AS always
  FROM
  (
    SELECT
      pipeline_name, job_name, axes, run_id, run_attempt, commit_sha, on_default, toUInt16(min(day)) AS run_day,
      max(pull_request) AS pull, max(branch) AS run_branch, min(first_at) AS began_at, max(last_at) AS finished_at,
      sum(passed) AS passes, sum(failed) > 0 AS is_red, groupUniqArrayArray(failed_tests) AS tests
    FROM ci.commit_runs
    WHERE repository_id = {repository_id: UUID}
      AND day >= toDate(fromUnixTimestamp64Milli(greatest({start_ms: Int64}, 86400000), 'UTC'), 'UTC') - 1
      AND day <= toDate(fromUnixTimestamp64Milli({end_ms: Int64}, 'UTC'), 'UTC') + 2
    GROUP BY commit_sha, pipeline_name, run_id, job_name, axes, run_attempt, on_default
    HAVING sum(passed) + sum(failed) > 0
      AND (empty({branches: Array(String)}) OR run_branch IN {branches: Array(String)})
  )
  WINDOW
    attempts AS (PARTITION BY commit_sha, pipeline_name, run_id, job_name, axes, on_default ORDER BY run_attempt
      ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING),
    later AS (PARTITION BY if(pull = 0, commit_sha, toString(pull)), pull = 0, pipeline_name, job_name, axes
      ORDER BY began_at, run_attempt, run_id ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING)
)
WHERE (is_red OR is_outside)
  AND began_at >= fromUnixTimestamp64Milli({start_ms: Int64}, 'UTC') AND began_at < fromUnixTimestamp64Milli({end_ms: Int64}, 'UTC')
