-- The start of the oldest month that is retained.
SELECT toUnixTimestamp64Milli(toDateTime64(toStartOfMonth(min(finished_at)), 3, 'UTC')) AS since_ms
FROM ci.executions
