-- What the totals of the block's tests lack, as rows to be added. Only the count is a sum: the rest may be added again.
SET param_is_all = false;
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SELECT
  repository_id, test_id, pipeline_name, job_name, month, anyLast(name) AS test_name,
  toUInt64(sum(derived) - sum(stored)) AS executions, max(success_at) AS last_success_at, max(failure_at) AS last_failure_at,
  max(newest) AS last
FROM
(
  SELECT
    repository_id, test_id, pipeline_name, job_name, month, test_name AS name, toInt64(executions) AS derived,
    toInt64(0) AS stored, last_success_at AS success_at, last_failure_at AS failure_at, last AS newest
  FROM
  (
    /*include derived/catalog*/
  )
  UNION ALL
  SELECT
    repository_id, test_id, pipeline_name, job_name, month, test_name, 0, toInt64(executions), last_success_at,
    last_failure_at, last
  FROM ci.catalog
  WHERE {is_all: Bool} OR repository_id = {repository_id: UUID}
)
WHERE test_id IN (SELECT arrayJoin(e_test_id) FROM ci.repair)
GROUP BY repository_id, test_id, pipeline_name, job_name, month
HAVING sum(derived) > sum(stored)
