-- Rows of the catalog that differ from its definition, or that only one of the two has.
SET param_is_all = false;
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SELECT
  format('{0} in {1} / {2} ({3}): {4} is stored, but the executions give {5}', toString(test_id), pipeline_name, job_name,
    toString(month), anyIf(row, side = 'stored'), anyIf(row, side = 'derived')) AS difference,
  toString(test_id) AS about
FROM
(
  SELECT
    'stored' AS side, repository_id, test_id, pipeline_name, job_name, month,
    toString((anyLast(test_name), sum(executions), max(last_success_at), max(last_failure_at), max(last))) AS row
  FROM ci.catalog
  WHERE {is_all: Bool} OR repository_id = {repository_id: UUID}
  GROUP BY repository_id, test_id, pipeline_name, job_name, month
  UNION ALL
  SELECT
    'derived', repository_id, test_id, pipeline_name, job_name, month,
    toString((test_name, executions, last_success_at, last_failure_at, last))
  FROM
  (
    /*include derived/catalog*/
  )
)
GROUP BY repository_id, test_id, pipeline_name, job_name, month
HAVING count() != 2 OR uniqExact(row) != 1
