-- How many runs of a window began on each UTC day, and of these, how many were green and ran again although nothing was red in
-- their attempt of the pipeline's run (`outside`), with the length of the attempts that followed.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_start_ms = 1795219200000;
SET param_end_ms = 1795305600000;
SET param_branches = [];
WITH
  arrayFilter(one -> one.5 = leg.5 AND one.6 = leg.6 AND one.3 > leg.3, legs) AS next_attempts,
  arraySort(one -> one.3, next_attempts)[1] AS next_attempt,
  attempts > 1 AND notEmpty(next_attempts) AND NOT arrayExists(one -> one.3 = leg.3 AND one.4, legs) AS is_outside
SELECT leg.7 AS day_number, count() AS runs, countIf(is_outside) AS outside, sumIf(next_attempt.2 - next_attempt.1, is_outside) AS outside_ms
FROM
(
  SELECT
    max(run_attempt) AS attempts, groupArray((began_ms, ended_ms, run_attempt, is_red, job_name, axes, run_day)) AS legs
  FROM
  (
    /*include queries/insights/window_runs*/
  )
  GROUP BY commit_sha, pipeline_name, run_id
)
ARRAY JOIN arrayFilter(one -> one.1 >= {start_ms: Int64} AND one.1 < {end_ms: Int64}, legs) AS leg
GROUP BY day_number
