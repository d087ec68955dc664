-- How many events of a repository are older than it keeps them. A range of the key.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_before_ms = 1795651200000;
SELECT count() AS events FROM ci.events
WHERE repository_id = {repository_id: UUID} AND received_at < fromUnixTimestamp64Milli({before_ms: Int64}, 'UTC')
