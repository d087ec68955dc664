-- Runs of commits that differ from their definition, or that only one of the two has.
SET param_is_all = false;
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SELECT
  format('run {0} attempt {1} of {2} / {3} on commit {4} and {5}: {6} is stored, but the executions give {7}', run_id,
    toString(run_attempt), pipeline_name, job_name, commit_sha, toString(day), anyIf(row, side = 'stored'),
    anyIf(row, side = 'derived')) AS difference,
  run_id AS about
FROM
(
  SELECT
    'stored' AS side, repository_id, day, commit_sha, pipeline_name, run_id, job_name, axes, run_attempt, on_default,
    toString((max(branch), max(base_ref), max(pull_request), max(job_url), max(place), min(first_at), max(last_at), sum(passed),
      sum(failed), sum(skipped), arraySort(groupUniqArrayArray(failed_tests)),
      arraySort(groupUniqArrayArray(failed_executions)))) AS row
  FROM ci.commit_runs
  WHERE {is_all: Bool} OR repository_id = {repository_id: UUID}
  GROUP BY repository_id, day, commit_sha, pipeline_name, run_id, job_name, axes, run_attempt, on_default
  UNION ALL
  SELECT
    'derived', repository_id, day, commit_sha, pipeline_name, run_id, job_name, axes, run_attempt, on_default,
    toString((branch, base_ref, pull_request, job_url, place, first_at, last_at, passed, failed, skipped, arraySort(failed_tests),
      arraySort(failed_executions)))
  FROM
  (
    /*include derived/commit_runs*/
  )
)
GROUP BY repository_id, day, commit_sha, pipeline_name, run_id, job_name, axes, run_attempt, on_default
HAVING count() != 2 OR uniqExact(row) != 1
