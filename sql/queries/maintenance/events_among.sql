-- Which of these events the log has.
SET param_since_ms = 1795219200000;
SET param_ids = [1795300000000001];
SELECT DISTINCT toFloat64(id) AS id
FROM ci.events
WHERE received_at >= fromUnixTimestamp64Milli({since_ms: Int64}, 'UTC') AND id IN {ids: Array(UInt64)}
