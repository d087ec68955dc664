-- First failures whose executions have left, as versions before 0.2.0 stored them.
SET param_before_ms = 0;
SELECT
  repository_id, test_id, toUnixTimestamp64Milli(tupleElement(earliest, 1)) AS failed_ms,
  toString(tupleElement(earliest, 2)) AS execution_id, tupleElement(earliest, 3) AS commit_sha
FROM (
  SELECT repository_id, test_id, min(first) AS earliest
  FROM ci.first_failures
  GROUP BY repository_id, test_id
)
WHERE failed_ms < {before_ms: Int64}
ORDER BY repository_id, test_id
