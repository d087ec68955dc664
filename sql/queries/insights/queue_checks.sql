-- The pull requests in which the merge queue checked others since a moment, for leaving them out of lists of pull requests. A range
-- of the key; the index of types leaves out granules without such events.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_since_ms = 1795219200000;
SET param_rows = 100000;
SELECT DISTINCT toUInt32(JSONExtractUInt(metadata, 'speculative_check_pull_request', 'number')) AS number
FROM ci.events
WHERE repository_id = {repository_id: UUID} AND received_at >= fromUnixTimestamp64Milli({since_ms: Int64}, 'UTC')
  AND type IN ('action.queue.checks_start', 'action.queue.checks_end') AND number != 0
LIMIT {rows: UInt32}
