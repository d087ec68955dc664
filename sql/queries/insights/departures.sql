-- Events of the merge queue about pull requests that left it in a window without being merged, in order. A range of the key; the
-- index of types leaves out granules without such events. Restoring a backup may store an event twice, which changes nothing.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_from_ms = 1795132800000;
SET param_start_ms = 1795219200000;
SET param_end_ms = 1795305600000;
SET param_rows = 100000;
WITH
  (
    SELECT groupUniqArray(assumeNotNull(pull_request))
    FROM ci.events
    WHERE repository_id = {repository_id: UUID} AND type = 'action.queue.leave' AND outcome = 'failure'
      AND pull_request IS NOT NULL AND received_at >= fromUnixTimestamp64Milli({start_ms: Int64}, 'UTC')
      AND received_at < fromUnixTimestamp64Milli({end_ms: Int64}, 'UTC')
  ) AS failed
SELECT
  toUnixTimestamp64Milli(received_at) AS at_ms, replaceOne(type, 'action.queue.', '') AS step, outcome,
  arrayIntersect(arrayConcat([ifNull(pull_request, 0)], batch_pull_requests), failed) AS pulls,
  JSONExtractString(metadata, 'pull_request_head_sha') AS head_commit,
  toUInt32(JSONExtractUInt(metadata, 'speculative_check_pull_request', 'number')) AS checked_in
FROM ci.events
WHERE repository_id = {repository_id: UUID}
  AND received_at >= fromUnixTimestamp64Milli({from_ms: Int64}, 'UTC')
  AND received_at < fromUnixTimestamp64Milli({end_ms: Int64}, 'UTC')
  AND type IN ('action.queue.enter', 'action.queue.leave', 'action.queue.checks_start', 'action.queue.checks_end')
  AND notEmpty(pulls)
ORDER BY at_ms, id
LIMIT {rows: UInt32}
