-- Which of these events the log has: after a crash, some months of a batch may be there and others not.
SET param_repository_ids = ['5beeaeba-a982-5c8b-8869-7caf1b9175bf'];
SET param_from_ms = 1795219200000;
SET param_to_ms = 1795305600000;
SET param_ids = [1795300000000001];
SELECT DISTINCT id
FROM ci.events
WHERE repository_id IN {repository_ids: Array(UUID)}
  AND received_at BETWEEN fromUnixTimestamp64Milli({from_ms: Int64}, 'UTC') AND fromUnixTimestamp64Milli({to_ms: Int64}, 'UTC')
  AND id IN {ids: Array(UInt64)}
