-- What the runs of the block's commits lack, as rows to be added. Only the counts are sums: the rest may be added again.
SET param_is_all = false;
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SELECT
  repository_id, day, commit_sha, pipeline_name, run_id, job_name, axes, run_attempt, on_default, max(any_branch) AS branch,
  max(any_base_ref) AS base_ref, max(any_pull_request) AS pull_request, max(any_job_url) AS job_url, max(any_place) AS place, min(first) AS first_at,
  max(last) AS last_at, toUInt64(sum(derived_passed) - sum(stored_passed)) AS passed,
  toUInt64(sum(derived_failed) - sum(stored_failed)) AS failed,
  toUInt64(sum(derived_skipped) - sum(stored_skipped)) AS skipped, groupUniqArrayArray(tests) AS failed_tests,
  groupUniqArrayArray(failures) AS failed_executions
FROM
(
  SELECT
    repository_id, day, commit_sha, pipeline_name, run_id, job_name, axes, run_attempt, on_default, branch AS any_branch,
    base_ref AS any_base_ref, pull_request AS any_pull_request, job_url AS any_job_url, place AS any_place, first_at AS first, last_at AS last,
    toInt64(passed) AS derived_passed, toInt64(failed) AS derived_failed, toInt64(skipped) AS derived_skipped,
    toInt64(0) AS stored_passed, toInt64(0) AS stored_failed, toInt64(0) AS stored_skipped, failed_tests AS tests,
    failed_executions AS failures
  FROM
  (
    /*include derived/commit_runs*/
  )
  UNION ALL
  SELECT
    repository_id, day, commit_sha, pipeline_name, run_id, job_name, axes, run_attempt, on_default, branch, base_ref, pull_request,
    job_url, place, first_at, last_at, 0, 0, 0, toInt64(passed), toInt64(failed), toInt64(skipped), failed_tests,
    failed_executions
  FROM ci.commit_runs
  WHERE {is_all: Bool} OR repository_id = {repository_id: UUID}
)
WHERE run_id IN (SELECT run_id FROM ci.repair)
GROUP BY repository_id, day, commit_sha, pipeline_name, run_id, job_name, axes, run_attempt, on_default
HAVING sum(derived_passed) >= sum(stored_passed) AND sum(derived_failed) >= sum(stored_failed)
  AND sum(derived_skipped) >= sum(stored_skipped)
  AND sum(derived_passed) + sum(derived_failed) + sum(derived_skipped)
    > sum(stored_passed) + sum(stored_failed) + sum(stored_skipped)
