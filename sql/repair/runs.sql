-- What the totals of the block's runs lack, as rows to be added. Only the counts are sums: the rest may be added again.
SET param_is_all = false;
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SELECT
  repository_id, day, pipeline_name, job_name, axes, run_id, run_attempt, min(first) AS first_at, max(last) AS last_at,
  toUInt64(sum(derived_passed) - sum(stored_passed)) AS passed, toUInt64(sum(derived_failed) - sum(stored_failed)) AS failed
FROM
(
  SELECT
    repository_id, day, pipeline_name, job_name, axes, run_id, run_attempt, first_at AS first, last_at AS last,
    toInt64(passed) AS derived_passed, toInt64(failed) AS derived_failed, toInt64(0) AS stored_passed,
    toInt64(0) AS stored_failed
  FROM
  (
    /*include derived/runs*/
  )
  UNION ALL
  SELECT
    repository_id, day, pipeline_name, job_name, axes, run_id, run_attempt, first_at, last_at, 0, 0, toInt64(passed),
    toInt64(failed)
  FROM ci.runs
  WHERE {is_all: Bool} OR repository_id = {repository_id: UUID}
)
WHERE run_id IN (SELECT run_id FROM ci.repair)
GROUP BY repository_id, day, pipeline_name, job_name, axes, run_id, run_attempt
HAVING sum(derived_passed) >= sum(stored_passed) AND sum(derived_failed) >= sum(stored_failed)
  AND sum(derived_passed) + sum(derived_failed) > sum(stored_passed) + sum(stored_failed)
