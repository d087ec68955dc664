-- The executions of each month in two numbers: sets of ids that differ hardly ever have both in common. Without repositories
-- that are being deleted.
SET param_from_month = 202608;
SET param_leaving = ['5beeaeba-a982-5c8b-8869-7caf1b9175bf'];
SELECT toYYYYMM(finished_at) AS month, count() AS executions, toString(groupBitXor(execution_id)) AS ids_xor
FROM ci.executions
WHERE toYYYYMM(finished_at) >= {from_month: UInt32} AND NOT has({leaving: Array(UUID)}, repository_id)
GROUP BY month
