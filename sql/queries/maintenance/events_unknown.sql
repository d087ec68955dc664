-- How many events of a repository PostgreSQL does not know: those after its newest, and those that it is about to hand over again.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_after_ms = 1795219200000;
SET param_ids = [1795300000000001];
SELECT count() AS events
FROM ci.events
WHERE repository_id = {repository_id: UUID}
  AND (received_at > fromUnixTimestamp64Milli({after_ms: Int64}, 'UTC') OR id IN {ids: Array(UInt64)})
