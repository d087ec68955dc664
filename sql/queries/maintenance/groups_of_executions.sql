-- The failure groups of some executions, each with one of its failures, by the test that they are to be stored under: `tests`, in
-- the order of `execution_ids`. `test_ids` are those that have them.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_test_ids = ['8c0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c11'];
SET param_execution_ids = [1];
SET param_tests = ['9d0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c12'];
SELECT
  failure_id, transform(execution_id, {execution_ids: Array(UInt64)}, {tests: Array(String)}, '') AS test,
  argMax((exception_type, exception_message), failed_at) AS newest, toUnixTimestamp64Milli(max(failed_at)) AS last_ms
FROM ci.failures
WHERE repository_id = {repository_id: UUID} AND on_default IN (false, true) AND test_id IN {test_ids: Array(UUID)}
  AND execution_id IN {execution_ids: Array(UInt64)} AND test != toString(test_id)
GROUP BY failure_id, test
