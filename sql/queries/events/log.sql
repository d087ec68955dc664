-- One page of a repository's events: a range of the key, read in its order (newest first) or against it (towards newer events),
-- which stops after `rows`. From a cursor on, the window begins or ends at its time, because the key is searched by time; the
-- position is compared as a whole, so that events of one millisecond are neither repeated nor skipped. Only restoring a backup can
-- store an event twice. Such a repeat is dropped outside: LIMIT BY inside would read the whole window (64 ms, where the first page
-- of 800,000 events takes 5). Reading twice `rows` inside is enough for `rows` different events.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_from_ms = 1795219200000;
SET param_to_ms = 1795305600000;
SET param_is_first = false;
SET param_key_ms = 1795300000000;
SET param_key_id = 1795300000000001;
SET param_pull_requests = [7];
SET param_base_refs = ['main'];
SET param_types = ['action.label'];
SET param_not_types = ['action.merge'];
SET param_outcomes = ['neutral'];
SET param_not_outcomes = ['failure'];
SET param_triggers = ['@octocat'];
SET param_not_triggers = ['@hubot'];
SET param_not_pull_requests = [8];
SET param_batch_pulls = [7];
SET param_not_batch_pulls = [8];
SET param_rows = 11;
SELECT id, received_ms, type, outcome, trigger, pull_request, base_ref, metadata
FROM
(
  SELECT
    id, toUnixTimestamp64Milli(received_at) AS received_ms, type, outcome, trigger, pull_request, base_ref, metadata
  FROM ci.events
  WHERE repository_id = {repository_id: UUID}
    AND received_at >= fromUnixTimestamp64Milli({from_ms: Int64}, 'UTC')
    AND received_at < fromUnixTimestamp64Milli({to_ms: Int64}, 'UTC')
    AND ({is_first: Bool} OR (toUnixTimestamp64Milli(received_at), id) /*beyond*/ > ({key_ms: Int64}, {key_id: UInt64}))
    AND (empty({pull_requests: Array(UInt32)}) OR pull_request IN {pull_requests: Array(UInt32)})
    AND (empty({base_refs: Array(String)}) OR base_ref IN {base_refs: Array(String)})
    AND (empty({types: Array(String)}) OR type IN {types: Array(String)})
    AND (empty({not_types: Array(String)}) OR type NOT IN {not_types: Array(String)})
    AND (empty({outcomes: Array(String)}) OR outcome IN {outcomes: Array(String)})
    AND (empty({not_outcomes: Array(String)}) OR outcome NOT IN {not_outcomes: Array(String)})
    AND (empty({triggers: Array(String)}) OR trigger IN {triggers: Array(String)})
    AND (empty({not_triggers: Array(String)}) OR trigger NOT IN {not_triggers: Array(String)})
    AND (empty({not_pull_requests: Array(UInt32)})
      OR ifNull(pull_request, 0) NOT IN {not_pull_requests: Array(UInt32)})
    AND (empty({batch_pulls: Array(UInt32)}) OR hasAny(batch_pull_requests, {batch_pulls: Array(UInt32)}))
    AND (empty({not_batch_pulls: Array(UInt32)})
      OR NOT hasAny(batch_pull_requests, {not_batch_pulls: Array(UInt32)}))
  ORDER BY received_at /*order*/ ASC, id /*order*/ ASC
  LIMIT 2 * {rows: UInt32}
)
ORDER BY received_ms /*order*/ ASC, id /*order*/ ASC
LIMIT 1 BY received_ms, id
LIMIT {rows: UInt32}
