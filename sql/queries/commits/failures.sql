-- The failures of some tests within the times of some commits, for their results (results): a range of the key for each
-- test. The times are compared one by one, because commits that are asked for together may lie weeks apart.
SET param_repository_ids = ['5beeaeba-a982-5c8b-8869-7caf1b9175bf'];
SET param_test_ids = ['8c0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c11'];
SET param_on_default = [true, false];
SET param_starts_ms = [1795219200000];
SET param_ends_ms = [1795305600000];
SET param_message_length = 1000;
SELECT
  toString(execution_id) AS execution, failure_id AS id, exception_type AS type,
  leftUTF8(exception_message, {message_length: UInt32}) AS message, attachments
FROM ci.failures
WHERE repository_id IN {repository_ids: Array(UUID)} AND on_default IN {on_default: Array(Bool)}
  AND test_id IN {test_ids: Array(UUID)}
  AND failed_at >= fromUnixTimestamp64Milli(arrayMin({starts_ms: Array(Int64)}), 'UTC')
  AND failed_at <= fromUnixTimestamp64Milli(arrayMax({ends_ms: Array(Int64)}), 'UTC')
  AND arrayExists((start, end) -> toUnixTimestamp64Milli(failed_at) BETWEEN start AND end,
    {starts_ms: Array(Int64)}, {ends_ms: Array(Int64)})
