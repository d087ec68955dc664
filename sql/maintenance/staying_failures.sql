-- The failures of a month without those of executions that leave.
SET param_month = 202611;
SELECT *
FROM ci.failures
WHERE toYYYYMM(failed_at) = {month: UInt32} AND execution_id NOT IN (SELECT execution_id FROM ci.leaving)
