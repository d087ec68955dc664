-- How many events a window holds, by time, type, outcome, trigger and pull request: two scans of a range of the key, one of
-- them for the pull requests of batches, of which an event has several. Grouping sets count each list in its own type: to make
-- a list of pairs of texts of every event took six times as much processor time. The filters by trigger and pull request are
-- columns here, because each of these lists is counted without its own filter, as a choice of others. FINAL drops what
-- restoring a backup has stored twice, and costs a tenth.
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
WITH filtered AS
(
  SELECT
    intDiv(toUnixTimestamp64Milli(received_at), {interval_ms: Int64}) AS bucket, type, outcome, trigger,
    ifNull(pull_request, 0) AS pull, batch_pull_requests AS batch,
    (empty({triggers: Array(String)}) OR trigger IN {triggers: Array(String)})
      AND (empty({not_triggers: Array(String)}) OR trigger NOT IN {not_triggers: Array(String)}) AS by_trigger,
    (empty({pull_requests: Array(UInt32)}) OR pull IN {pull_requests: Array(UInt32)})
      AND (empty({not_pull_requests: Array(UInt32)}) OR pull NOT IN {not_pull_requests: Array(UInt32)}) AS by_pull,
    (empty({batch_pulls: Array(UInt32)}) OR hasAny(batch, {batch_pulls: Array(UInt32)}))
      AND (empty({not_batch_pulls: Array(UInt32)}) OR NOT hasAny(batch, {not_batch_pulls: Array(UInt32)})) AS by_batch
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
SELECT facet, value, entries
FROM
(
  SELECT
    multiIf(grouping(bucket) = 0, 'histogram', grouping(type) = 0, 'event_type', grouping(outcome) = 0, 'outcome',
      grouping(trigger) = 0, 'trigger', 'pull_request') AS facet,
    multiIf(facet = 'histogram', toString(bucket), facet = 'event_type', toString(type),
      facet = 'outcome', toString(outcome), facet = 'trigger', trigger, toString(pull)) AS value,
    multiIf(facet = 'trigger', countIf(by_pull AND by_batch), facet = 'pull_request', countIf(by_trigger AND by_batch),
      countIf(by_trigger AND by_pull AND by_batch)) AS entries
  FROM filtered
  GROUP BY GROUPING SETS ((bucket), (type), (outcome), (trigger), (pull))
  HAVING entries > 0 AND (facet != 'pull_request' OR pull != 0)
  UNION ALL
  SELECT 'batch_pull_request' AS facet, toString(number) AS value, count() AS entries
  FROM filtered
  ARRAY JOIN batch AS number
  WHERE by_trigger AND by_pull
  GROUP BY number
)
ORDER BY facet, entries DESC, value
LIMIT {rows: UInt32} BY facet
