-- Executions of a month with more or fewer failures than they had: a backup takes one table after the other, and a block may have
-- been stored in between. Reads the few executions with failures.
SET param_month = 202611;
SELECT toString(execution_id) AS execution_id
FROM
(
  SELECT e.execution_id AS execution_id, toInt64(e.failures) AS difference
  FROM ci.executions AS e
  WHERE toYYYYMM(e.finished_at) = {month: UInt32} AND e.failures > 0
  UNION ALL
  SELECT f.execution_id AS execution_id, -toInt64(count()) AS difference
  FROM ci.failures AS f
  WHERE toYYYYMM(f.failed_at) = {month: UInt32}
  GROUP BY f.execution_id
)
GROUP BY execution_id
HAVING sum(difference) != 0
