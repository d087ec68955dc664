-- The ids of a month's executions that arrived since a moment.
SET param_month = 202611;
SET param_since_ms = 1795219200000;
SELECT toString(e.execution_id) AS execution_id
FROM ci.executions AS e
WHERE toYYYYMM(finished_at) = {month: UInt32} AND received_at >= fromUnixTimestamp64Milli({since_ms: Int64}, 'UTC')
