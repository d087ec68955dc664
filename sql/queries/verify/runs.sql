-- Totals of runs that differ from their definition, or that only one of the two has.
SET param_is_all = false;
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SELECT
  format('run {0} attempt {1} of {2} / {3} on {4}: {5} is stored, but the executions give {6}', run_id, toString(run_attempt),
    pipeline_name, job_name, toString(day), anyIf(row, side = 'stored'), anyIf(row, side = 'derived')) AS difference,
  run_id AS about
FROM
(
  SELECT
    'stored' AS side, repository_id, day, pipeline_name, job_name, axes, run_id, run_attempt,
    toString((min(first_at), max(last_at), sum(passed), sum(failed))) AS row
  FROM ci.runs
  WHERE {is_all: Bool} OR repository_id = {repository_id: UUID}
  GROUP BY repository_id, day, pipeline_name, job_name, axes, run_id, run_attempt
  UNION ALL
  SELECT
    'derived', repository_id, day, pipeline_name, job_name, axes, run_id, run_attempt,
    toString((first_at, last_at, passed, failed))
  FROM
  (
    /*include derived/runs*/
  )
)
GROUP BY repository_id, day, pipeline_name, job_name, axes, run_id, run_attempt
HAVING count() != 2 OR uniqExact(row) != 1
