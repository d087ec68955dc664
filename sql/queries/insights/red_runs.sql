-- The red runs of a window with what came after them. `rerun_ms` is the length of the next attempt of the leg, -1 for none;
-- `green_ms` when the next green run of the leg on the same change ended, 0 for none. A change is a pull request, else a commit.
-- `always_failed` are the tests that failed in every run of the leg on the commit. The runs of a leg on a change are put
-- together once, and most have no red one: with functions of windows, it took twice as long.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_start_ms = 1795219200000;
SET param_end_ms = 1795305600000;
SET param_branches = [];
WITH
  arrayFilter(one -> one.3 = red.3 AND one.5 = red.5 AND one.6 = red.6 AND one.4 > red.4, all_runs) AS next_attempts,
  arraySort(one -> one.4, next_attempts)[1] AS next_attempt,
  arrayFilter(one -> empty(one.10) AND one.1 >= red.1 AND one.2 > red.2, all_runs) AS greens
SELECT
  pipeline_name, job_name, axes, red.1 AS began_ms, red.2 AS ended_ms, red.3 AS run_id, red.4 AS run_attempt, red.5 AS commit_sha,
  red.6 AS on_default, red.7 AS pull, red.8 AS run_day, red.9 AS passes, red.10 AS tests,
  if(empty(next_attempts), toInt64(-1), next_attempt.2 - next_attempt.1) AS rerun_ms,
  if(empty(greens), toInt64(0), arrayMin(one -> one.2, greens)) AS green_ms,
  arrayFilter(test -> arrayAll(one -> one.5 != red.5 OR has(one.10, test), all_runs), red.10) AS always_failed
FROM
(
  SELECT
    pipeline_name, job_name, axes,
    groupArray((began_ms, ended_ms, run_id, run_attempt, commit_sha, on_default, pull, run_day, passes, tests)) AS all_runs
  FROM
  (
    /*include queries/insights/window_runs*/
  )
  GROUP BY pull, if(pull = 0, commit_sha, ''), pipeline_name, job_name, axes
  HAVING max(is_red)
)
ARRAY JOIN arrayFilter(one -> notEmpty(one.10) AND one.1 >= {start_ms: Int64} AND one.1 < {end_ms: Int64}, all_runs) AS red
