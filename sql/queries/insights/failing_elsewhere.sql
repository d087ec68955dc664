-- What failed on other commits about when the runs of one did: other runs with their failed executions, the executions with the
-- same failure groups, and messages within the hour. A join would take several times as long: the caller joins the three by
-- execution. The days of a repository are one range of the key of runs, and hardly any failed. Groups are ranges of the key of
-- failures; for messages, only the times of the failures of these months are read, and the texts of those that are near.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_commit = '1111111111111111111111111111111111111111';
SET param_test_ids = ['8c0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c11'];
SET param_failure_ids = ['1c0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c12'];
SET param_starts_ms = [1795219200000];
SET param_ends_ms = [1795226400000];
SET param_near_ms = 3600000;
SET param_far_ms = 43200000;
SET param_pulls_ms = 604800000;
SET param_asked_of_run = 100;
SET param_sample_of_run = 50;
SET param_rows = 1000;
SET param_message_length = 200;
WITH
  fromUnixTimestamp64Milli(arrayMin({starts_ms: Array(Int64)}), 'UTC') AS begin_at,
  fromUnixTimestamp64Milli(arrayMax({ends_ms: Array(Int64)}), 'UTC') AS end_at,
  toIntervalMillisecond({near_ms: Int64}) AS near,
  toIntervalMillisecond({far_ms: Int64}) AS far,
  toIntervalMillisecond({pulls_ms: Int64}) AS pulls
SELECT
  'run' AS kind, '' AS id, on_default, pull_request, branch, base_ref,
  -- The default branch tells nothing once it runs after the commit, which may have been merged.
  toBool(arrayExists((start, end) -> toUnixTimestamp64Milli(first_at) <= if(on_default, end, end + {near_ms: Int64})
    AND toUnixTimestamp64Milli(last_at) >= start - {near_ms: Int64},
    {starts_ms: Array(Int64)}, {ends_ms: Array(Int64)})) AS is_near,
  toBool(arrayExists((start, end) -> toUnixTimestamp64Milli(first_at) <= if(on_default, end, end + {far_ms: Int64})
    AND toUnixTimestamp64Milli(last_at) >= start - {far_ms: Int64},
    {starts_ms: Array(Int64)}, {ends_ms: Array(Int64)})) AS is_far,
  first_at <= end_at + near AND last_at >= begin_at - pulls AS is_of_week,
  arrayMap(execution -> toString(execution.1), asked) AS tests,
  arrayMap(execution -> toString(execution.2), arrayConcat(asked,
    if(is_near, arraySlice(failed_executions, 1, {sample_of_run: UInt32}), []))) AS executions,
  '' AS type, '' AS message,
  arraySlice(arrayFilter(execution -> execution.1 IN {test_ids: Array(UUID)}, failed_executions), 1,
    {asked_of_run: UInt32}) AS asked
FROM ci.commit_runs
WHERE repository_id = {repository_id: UUID} AND day >= toDate(begin_at - pulls, 'UTC') AND day <= toDate(end_at + far, 'UTC')
  AND commit_sha != {commit: String} AND (is_far OR (is_of_week AND notEmpty(asked)))
ORDER BY notEmpty(executions) DESC, is_near DESC
LIMIT {rows: UInt32}
UNION ALL
SELECT
  'group', toString(failure_id), on_default, 0, '', '', false, false, false, [],
  arrayMap(execution -> toString(execution), groupUniqArray(50)(execution_id)), '', '', []
FROM ci.failures
WHERE repository_id = {repository_id: UUID} AND on_default IN (false, true) AND test_id IN {test_ids: Array(UUID)}
  AND failure_id IN {failure_ids: Array(UUID)} AND failed_at >= begin_at - far AND failed_at <= end_at + far
GROUP BY failure_id, on_default
UNION ALL
SELECT
  'message', toString(test_id), on_default, 0, '', '', false, false, false, [], [toString(execution_id)], exception_type,
  leftUTF8(exception_message, {message_length: UInt32}), []
FROM ci.failures
WHERE repository_id = {repository_id: UUID} AND on_default IN (false, true)
  AND failed_at >= begin_at - near AND failed_at <= end_at + near
LIMIT {rows: UInt32}
