-- What failed on other commits about when the runs of one did, in four parts: by failure group (within hours of the same tests),
-- by message (within an hour, a sample of all tests), whose runs there were, and how many other pull requests
-- each test failed on in a week. One statement, because a gate waits for it. The days of a repository are one range of the key
-- of runs, of most of which only the smallest columns are read: hardly any failed. From their failed executions, tests and
-- groups lead into the key of failures; a sample bounds those that were not asked about.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_commit = '1111111111111111111111111111111111111111';
SET param_test_ids = ['8c0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c11'];
SET param_failure_ids = ['1c0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c12'];
SET param_own = [7];
SET param_starts_ms = [1795219200000];
SET param_ends_ms = [1795226400000];
SET param_near_ms = 3600000;
SET param_far_ms = 43200000;
SET param_pulls_ms = 604800000;
SET param_run_sample = 3;
SET param_sample = 300;
SET param_message_length = 200;
WITH
  toDate(fromUnixTimestamp64Milli(arrayMin({starts_ms: Array(Int64)}) - {far_ms: Int64}, 'UTC'), 'UTC') AS far_day,
  toDate(fromUnixTimestamp64Milli(arrayMax({ends_ms: Array(Int64)}) + {far_ms: Int64}, 'UTC'), 'UTC') AS last_day,
  -- The default branch tells nothing once it runs after the commit, which may have been merged.
  others AS (
    SELECT
      toUnixTimestamp64Milli(first_at) AS started, toUnixTimestamp64Milli(last_at) AS ended, failed_executions,
      [toString(on_default), toString(pull_request), branch, base_ref] AS origin,
      toBool(arrayExists((start, end) -> started <= if(on_default, end, end + {near_ms: Int64}) AND ended >= start - {near_ms: Int64},
        {starts_ms: Array(Int64)}, {ends_ms: Array(Int64)})) AS is_near,
      arrayExists((start, end) -> started <= if(on_default, end, end + {far_ms: Int64}) AND ended >= start - {far_ms: Int64},
        {starts_ms: Array(Int64)}, {ends_ms: Array(Int64)}) AS is_about
    FROM ci.commit_runs
    WHERE repository_id = {repository_id: UUID} AND day >= far_day AND day <= last_day AND commit_sha != {commit: String}
  ),
  sampled AS (
    SELECT execution.test_id AS test_id, execution.execution_id AS execution_id, origin
    FROM others
    ARRAY JOIN arraySlice(failed_executions, 1, {run_sample: UInt32}) AS execution
    WHERE is_near
    ORDER BY cityHash64(execution.execution_id)
    LIMIT {sample: UInt32}
  )
SELECT
  'group' AS kind, toString(failure_id) AS id, '' AS type, '' AS message, groupUniqArray(200)(origin) AS origins,
  near AS is_near, toUInt32(0) AS pull_requests
FROM ci.failures
INNER JOIN (
  SELECT execution.execution_id AS execution_id, any(origin) AS origin, max(is_near) AS near
  FROM others
  ARRAY JOIN failed_executions AS execution
  WHERE is_about AND execution.test_id IN {test_ids: Array(UUID)}
  GROUP BY execution_id
) AS failed USING execution_id
WHERE repository_id = {repository_id: UUID} AND on_default IN (false, true) AND test_id IN {test_ids: Array(UUID)}
  AND failure_id IN {failure_ids: Array(UUID)}
GROUP BY failure_id, near
UNION ALL
SELECT
  'message', toString(test_id), exception_type, leftUTF8(exception_message, {message_length: UInt32}),
  groupUniqArray(200)(origin), true, toUInt32(0)
FROM ci.failures
INNER JOIN sampled USING (test_id, execution_id)
WHERE repository_id = {repository_id: UUID} AND on_default IN (false, true) AND test_id IN (SELECT test_id FROM sampled)
GROUP BY 2, 3, 4
UNION ALL
SELECT 'origins', '', '', '', groupUniqArray(300)(origin), is_near, toUInt32(0)
FROM others
WHERE is_about
GROUP BY is_near
UNION ALL
SELECT
  'test', toString(failed_test), '', '', CAST([], 'Array(Array(String))'), false, toUInt32(uniqExact(pull_request))
FROM ci.commit_runs
ARRAY JOIN arrayIntersect(failed_tests, {test_ids: Array(UUID)}) AS failed_test
WHERE repository_id = {repository_id: UUID} AND failed > 0 AND pull_request > 0 AND NOT on_default
  AND pull_request NOT IN {own: Array(UInt32)}
  AND day >= toDate(fromUnixTimestamp64Milli(arrayMin({starts_ms: Array(Int64)}) - {pulls_ms: Int64}, 'UTC'), 'UTC')
  AND day <= last_day
  AND toUnixTimestamp64Milli(first_at) <= arrayMax({ends_ms: Array(Int64)}) + {near_ms: Int64}
  AND toUnixTimestamp64Milli(last_at) >= arrayMin({starts_ms: Array(Int64)}) - {pulls_ms: Int64}
GROUP BY failed_test
