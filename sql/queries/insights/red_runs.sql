-- The red runs of days with what came after them. `rerun_ms` is the length of the next attempt of the leg, -1 for none;
-- `green_ms` when the next green run of the leg on the same change ended, 0 for none. A change is a pull request, else a commit.
-- `always_failed` are the tests that failed in every run of the leg on the commit. Only runs from the day before to seven days
-- after count, so a day does not depend on which others are read with it. The runs of a leg on a change are put together once,
-- and most have no red one: with functions of windows for all of it, it took twice as long. A broken commit has runs in which
-- 100,000 tests failed, so tests are compared once for the runs of a day, and `all_runs` has none, because each red run gets a copy
-- of it. 300,000 runs take 0.35 s, and 200 runs of 20,000 failed tests 1.2 s.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_start_ms = 1795219200000;
SET param_end_ms = 1795305600000;
SET param_branches = [];
WITH
  arrayFilter(one -> one.5 >= red.4 - 1 AND one.5 <= red.4 + 7, all_runs) AS near,
  arrayFilter(one -> one.3 = cityHash64(red.5, red.6, red.7) AND one.4 > red.3, near) AS next_attempts,
  arraySort(one -> one.4, next_attempts)[1] AS next_attempt,
  arrayFilter(one -> one.6 AND one.1 >= red.1 AND one.2 > red.2, near) AS greens
SELECT
  pipeline_name, job_name, axes, red.1 AS began_ms, red.2 AS ended_ms, red.3 AS run_attempt, red.4 AS run_day, red.5 AS run_id,
  red.6 AS commit_sha, red.7 AS on_default, red.8 AS pull, red.9 AS passes, red.10 AS tests, red.11 AS always_failed,
  JSONExtractString(red.12, 'runner') AS runner, JSONExtractString(red.12, 'region') AS region,
  if(empty(next_attempts), toInt64(-1), next_attempt.2 - next_attempt.1) AS rerun_ms,
  if(empty(greens), toInt64(0), arrayMin(one -> one.2, greens)) AS green_ms
FROM
(
  SELECT
    pipeline_name, job_name, axes,
    groupArray((began_ms, ended_ms, cityHash64(run_id, commit_sha, on_default), run_attempt, run_day, empty(tests))) AS all_runs,
    groupArrayIf(
      (began_ms, ended_ms, run_attempt, run_day, run_id, commit_sha, on_default, pull, passes, tests, always_failed, run_place),
      is_red AND began_ms >= {start_ms: Int64} AND began_ms < {end_ms: Int64}) AS reds
  FROM
  (
    SELECT
      *,
      groupArrayIntersect(tests) OVER (
        PARTITION BY pull, commit_sha, pipeline_name, job_name, axes
        ORDER BY run_day RANGE BETWEEN 1 PRECEDING AND 7 FOLLOWING) AS always_failed
    FROM
    (
      /*include queries/insights/window_runs*/
    )
  )
  GROUP BY pull, if(pull = 0, commit_sha, ''), pipeline_name, job_name, axes
  HAVING notEmpty(reds)
)
ARRAY JOIN reds AS red
