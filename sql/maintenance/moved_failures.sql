-- The failures of a month, marked like their executions.
SET param_month = 202611;
SELECT * REPLACE ((repository_id, execution_id) IN (
  SELECT repository_id, execution_id FROM ci.executions WHERE on_default AND toYYYYMM(finished_at) = {month: UInt32}
) AS on_default)
FROM ci.failures
WHERE toYYYYMM(failed_at) = {month: UInt32}
