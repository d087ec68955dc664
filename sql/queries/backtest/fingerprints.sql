-- The failure group of each execution of some tests that failed on the default branch: that of its last attempt, which
-- decided. The key leads to the tests.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_test_ids = ['8c0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c11'];
SELECT toString(execution_id) AS execution_id, argMax(toString(failure_id), attempt) AS fingerprint
FROM ci.failures
WHERE repository_id = {repository_id: UUID} AND on_default AND test_id IN {test_ids: Array(UUID)}
GROUP BY ci.failures.execution_id
