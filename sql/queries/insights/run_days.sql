-- When the runs of days began, by UTC day, and those on the default branch; and of the green runs that ran again although nothing
-- was red in their attempt of the pipeline's run (`outside`), also the length of the attempt that followed. As in
-- insights/red_runs.sql, only runs from the day before to seven days after count, so a day does not depend on which others are
-- read with it: clocks may put an attempt before the one that it follows.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_start_ms = 1795219200000;
SET param_end_ms = 1795305600000;
SET param_branches = [];
WITH
  if(attempts > 1, legs, []) AS others,
  arrayFilter(one -> one.5 = leg.5 AND one.3 > leg.3 AND one.6 >= leg.6 - 1 AND one.6 <= leg.6 + 7, others) AS next_attempts,
  arraySort(one -> one.3, next_attempts)[1] AS next_attempt,
  notEmpty(next_attempts) AND NOT arrayExists(one -> one.3 = leg.3 AND one.4 AND abs(one.6 - leg.6) <= 1, others) AS is_outside
SELECT
  leg.6 AS day_number, groupArray(leg.1) AS starts, groupArrayIf(leg.1, leg.7) AS default_starts,
  groupArrayIf(CAST((leg.1, next_attempt.2 - next_attempt.1), 'Tuple(began_ms Int64, next_ms Int64)'), is_outside) AS outside
FROM
(
  SELECT
    max(run_attempt) AS attempts, groupArray((began_ms, ended_ms, run_attempt, is_red, cityHash64(job_name, axes), run_day, on_default)) AS legs
  FROM
  (
    /*include queries/insights/window_runs*/
  )
  GROUP BY cityHash64(commit_sha, pipeline_name, run_id)
)
ARRAY JOIN arrayFilter(one -> one.1 >= {start_ms: Int64} AND one.1 < {end_ms: Int64}, legs) AS leg
GROUP BY day_number
