-- The distinct messages with which tests failed on a branch, the newest first, at most some: what leads from a branch to
-- causes. The runs of the days know which executions failed, so only these failures are read.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_branch = 'feature/rounding';
SET param_from_day = 20778;
SET param_to_day = 20779;
SET param_limit = 5000;
WITH failed AS (
  SELECT failed.1 AS test_id, failed.2 AS execution_id
  FROM ci.commit_runs
  ARRAY JOIN failed_executions AS failed
  WHERE repository_id = {repository_id: UUID} AND branch = {branch: String}
    AND day BETWEEN toDate({from_day: UInt16}) AND toDate({to_day: UInt16})
  ORDER BY failed.3 DESC
  LIMIT {limit: UInt32}
)
SELECT test_id, exception_type AS type, substringUTF8(exception_message, 1, 8000) AS message
FROM ci.failures
WHERE repository_id = {repository_id: UUID} AND test_id IN (SELECT test_id FROM failed)
  AND execution_id IN (SELECT execution_id FROM failed)
GROUP BY test_id, type, message
LIMIT {limit: UInt32}
