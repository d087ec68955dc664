-- Executions with more or fewer stored failures than they reported. Those with neither are left out: most have none, and
-- every group takes memory.
SET param_is_all = false;
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SELECT
  format('execution {0} of repository {1} reports {2} failures, but {3} are stored',
    toString(execution_id), toString(repository_id), toString(reported), toString(stored)) AS difference,
  toString(test) AS about
FROM
(
  SELECT repository_id, execution_id, any(test_id) AS test, sum(reported_failures) AS reported, sum(stored_failures) AS stored
  FROM
  (
    SELECT repository_id, test_id, execution_id, toInt64(failures) AS reported_failures, toInt64(0) AS stored_failures
    FROM ci.executions
    WHERE ({is_all: Bool} OR repository_id = {repository_id: UUID}) AND failures > 0
    UNION ALL
    SELECT repository_id, test_id, execution_id, 0, 1
    FROM ci.failures
    WHERE {is_all: Bool} OR repository_id = {repository_id: UUID}
  )
  GROUP BY repository_id, execution_id
)
WHERE reported != stored
