-- The executions of a month without those that leave.
SET param_month = 202611;
SELECT *
FROM ci.executions
WHERE toYYYYMM(finished_at) = {month: UInt32} AND execution_id NOT IN (SELECT execution_id FROM ci.leaving)
