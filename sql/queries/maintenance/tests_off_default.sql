-- Tests that have run since a moment on no branch, among those that ran off the default branch, in the order of their ids. A range
-- of the key, aggregated in its order, so that a page ends early. Whether a test ever ran on the default branch is known elsewhere.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_after_id = '00000000-0000-0000-0000-000000000000';
SET param_since_ms = 1795651200000;
SET param_rows = 2000;
SELECT test_id, argMax(test_name, finished_at) AS name
FROM ci.executions
WHERE repository_id = {repository_id: UUID} AND NOT on_default AND test_id > {after_id: UUID}
GROUP BY test_id
HAVING max(finished_at) < fromUnixTimestamp64Milli({since_ms: Int64}, 'UTC')
ORDER BY test_id
LIMIT {rows: UInt32}
SETTINGS optimize_aggregation_in_order = 1
