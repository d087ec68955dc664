-- The red runs of days with what came after them. `rerun_ms` is the length of the next attempt of the leg, -1 for none;
-- `green_ms` when the next green run of the leg on the same change ended, 0 for none. A change is a pull request, else a commit.
-- `always_failed` are the tests that failed in every run of the leg on the commit. Only runs from the day before to seven days
-- after count, so a day does not depend on which others are read with it. The runs of a leg on a change are put together once,
-- and most have no red one: with functions of windows, it took twice as long. 300,000 runs take 0.9 s of processor time.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_start_ms = 1795219200000;
SET param_end_ms = 1795305600000;
SET param_branches = [];
WITH
  arrayFilter(one -> one.6 >= red.6 - 1 AND one.6 <= red.6 + 7, all_runs) AS near,
  arrayFilter(one -> one.3 = red.3 AND one.4 > red.4, near) AS next_attempts,
  arraySort(one -> one.4, next_attempts)[1] AS next_attempt,
  arrayFilter(one -> empty(one.7) AND one.1 >= red.1 AND one.2 > red.2, near) AS greens
SELECT
  pipeline_name, job_name, axes, red.1 AS began_ms, red.2 AS ended_ms, red.8 AS run_id, red.4 AS run_attempt, red.9 AS commit_sha,
  red.10 AS on_default, red.11 AS pull, red.6 AS run_day, red.12 AS passes, red.7 AS tests,
  JSONExtractString(red.13, 'runner') AS runner, JSONExtractString(red.13, 'region') AS region,
  if(empty(next_attempts), toInt64(-1), next_attempt.2 - next_attempt.1) AS rerun_ms,
  if(empty(greens), toInt64(0), arrayMin(one -> one.2, greens)) AS green_ms,
  arrayFilter(test -> arrayAll(one -> one.5 != red.5 OR has(one.7, test), near), red.7) AS always_failed
FROM
(
  SELECT
    pipeline_name, job_name, axes,
    groupArray((began_ms, ended_ms, of_run, run_attempt, of_commit, run_day, tests)) AS all_runs,
    groupArrayIf(
      (began_ms, ended_ms, of_run, run_attempt, of_commit, run_day, tests, run_id, commit_sha, on_default, pull, passes, run_place),
      is_red AND began_ms >= {start_ms: Int64} AND began_ms < {end_ms: Int64}) AS reds
  FROM
  (
    SELECT *, cityHash64(run_id, commit_sha, on_default) AS of_run, cityHash64(commit_sha) AS of_commit
    FROM
    (
      /*include queries/insights/window_runs*/
    )
  )
  GROUP BY pull, if(pull = 0, commit_sha, ''), pipeline_name, job_name, axes
  HAVING notEmpty(reds)
)
ARRAY JOIN reds AS red
