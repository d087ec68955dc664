-- The ids of all executions of some tests. A range of the key for each test and side of the default branch.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_test_ids = ['8c0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c11'];
SELECT test_id, toYYYYMM(finished_at) AS month, toString(e.execution_id) AS execution_id
FROM ci.executions AS e
WHERE repository_id = {repository_id: UUID} AND on_default IN (true, false) AND test_id IN {test_ids: Array(UUID)}
