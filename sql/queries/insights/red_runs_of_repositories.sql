-- Red runs of some repositories by the UTC day on which they began, for the list of what changed in each. The primary key leads
-- to the days of each repository. Runs that began on the day before and ended on the first one are whole, because that day is
-- read, too.
SET param_repository_ids = ['5beeaeba-a982-5c8b-8869-7caf1b9175bf'];
SET param_from_day = 20777;
SELECT repository_id, began_day, count() AS red_runs, countIf(on_default) AS on_default_branch
FROM
(
  SELECT repository_id, on_default, toUInt16(toDate(min(first_at), 'UTC')) AS began_day
  FROM ci.commit_runs
  WHERE repository_id IN {repository_ids: Array(UUID)} AND day >= toDate({from_day: UInt16}) - 1
  GROUP BY repository_id, commit_sha, pipeline_name, run_id, job_name, axes, run_attempt, on_default
  HAVING sum(failed) > 0
)
WHERE began_day >= {from_day: UInt16}
GROUP BY repository_id, began_day
