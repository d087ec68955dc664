-- How far the event log is, by repository: reconcile compares it with what PostgreSQL knows of each.
SELECT repository_id, toFloat64(toUnixTimestamp64Milli(max(received_at))) AS newest_ms
FROM ci.events
GROUP BY repository_id
