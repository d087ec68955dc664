-- Executions with failures that are stored under another test than their name belongs to, in the order of their ids, and the test
-- that it belongs to. `test_ids` are the tests that have them, `tests` those of the names.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_test_ids = ['8c0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c11'];
SET param_names = ['a.CartTest.adds'];
SET param_tests = ['9d0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c12'];
SET param_after_id = 0;
SET param_rows = 2000;
SELECT toString(execution_id) AS id, transform(test_name, {names: Array(String)}, {tests: Array(String)}, '') AS test
FROM ci.executions
WHERE repository_id = {repository_id: UUID} AND on_default IN (false, true) AND test_id IN {test_ids: Array(UUID)}
  AND test_name IN {names: Array(String)} AND test != toString(test_id) AND failures > 0
  AND execution_id > {after_id: UInt64}
ORDER BY execution_id
LIMIT {rows: UInt32}
