-- The executions of each month in two numbers: sets of ids that differ hardly ever have both in common.
SET param_from_month = 202608;
SELECT toYYYYMM(finished_at) AS month, count() AS executions, toString(groupBitXor(execution_id)) AS ids_xor
FROM ci.executions
WHERE toYYYYMM(finished_at) >= {from_month: UInt32}
GROUP BY month
