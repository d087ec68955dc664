-- How many events a window holds, by time, type, outcome, trigger and pull request: one scan of a range of the key. The
-- filters by trigger and pull request are columns here, because each of these lists is counted without its own filter, as a
-- choice of others. To group before the lists are made took more time than it saved. FINAL drops what restoring a backup
-- has stored twice.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_from_ms = 1795219200000;
SET param_to_ms = 1795305600000;
SET param_interval_ms = 1200000;
SET param_pull_requests = [7];
SET param_not_pull_requests = [];
SET param_batch_pulls = [];
SET param_not_batch_pulls = [8];
SET param_base_refs = ['main'];
SET param_types = [];
SET param_not_types = ['action.label'];
SET param_outcomes = ['success'];
SET param_not_outcomes = [];
SET param_triggers = [];
SET param_not_triggers = ['@octocat'];
SET param_rows = 200;
SELECT entry.1 AS facet, entry.2 AS value, count() AS entries
FROM
(
  SELECT
    intDiv(toUnixTimestamp64Milli(received_at), {interval_ms: Int64}) AS bucket, type, outcome, trigger, pull_request,
    batch_pull_requests AS batch,
    (empty({triggers: Array(String)}) OR trigger IN {triggers: Array(String)})
      AND (empty({not_triggers: Array(String)}) OR trigger NOT IN {not_triggers: Array(String)}) AS by_trigger,
    (empty({pull_requests: Array(UInt32)}) OR ifNull(pull_request, 0) IN {pull_requests: Array(UInt32)})
      AND (empty({not_pull_requests: Array(UInt32)})
        OR ifNull(pull_request, 0) NOT IN {not_pull_requests: Array(UInt32)}) AS by_pull,
    (empty({batch_pulls: Array(UInt32)}) OR hasAny(batch, {batch_pulls: Array(UInt32)}))
      AND NOT hasAny(batch, {not_batch_pulls: Array(UInt32)}) AS by_batch
  FROM ci.events FINAL
  WHERE repository_id = {repository_id: UUID}
    AND received_at >= fromUnixTimestamp64Milli({from_ms: Int64}, 'UTC')
    AND received_at < fromUnixTimestamp64Milli({to_ms: Int64}, 'UTC')
    AND (empty({base_refs: Array(String)}) OR base_ref IN {base_refs: Array(String)})
    AND (empty({types: Array(String)}) OR type IN {types: Array(String)})
    AND (empty({not_types: Array(String)}) OR type NOT IN {not_types: Array(String)})
    AND (empty({outcomes: Array(String)}) OR outcome IN {outcomes: Array(String)})
    AND (empty({not_outcomes: Array(String)}) OR outcome NOT IN {not_outcomes: Array(String)})
)
ARRAY JOIN arrayConcat(
  if(by_trigger AND by_pull AND by_batch,
    [('histogram', toString(bucket)), ('event_type', toString(type)), ('outcome', toString(outcome))], []),
  if(by_pull AND by_batch, [('trigger', trigger)], []),
  if(by_trigger AND by_batch AND pull_request IS NOT NULL, [('pull_request', toString(assumeNotNull(pull_request)))], []),
  if(by_trigger AND by_pull, arrayMap(number -> ('batch_pull_request', toString(number)), batch), [])) AS entry
GROUP BY facet, value
ORDER BY facet, entries DESC, value
LIMIT {rows: UInt32} BY facet
