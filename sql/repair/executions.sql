-- Executions of the block that are not stored.
SELECT *
FROM ci.repair_executions
WHERE (repository_id, execution_id) NOT IN (
  SELECT repository_id, execution_id
  FROM ci.executions
  WHERE repository_id IN (SELECT repository_id FROM ci.repair) AND test_id IN (SELECT arrayJoin(e_test_id) FROM ci.repair)
)
