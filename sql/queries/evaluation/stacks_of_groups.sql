-- The stack of the newest failure of some groups, and the file of the test. Test and group are the key. The beginning of a
-- stack is enough to find the frames that matter.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_test_ids = ['8c0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c11'];
SET param_failure_ids = ['8c0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c12'];
SELECT
  test_id, failure_id,
  argMax(substring(stacktrace, 1, 8000), (failed_at, execution_id, attempt)) AS stacktrace,
  argMax(filepath, (failed_at, execution_id, attempt)) AS filepath
FROM ci.failures
WHERE repository_id = {repository_id: UUID} AND on_default AND test_id IN {test_ids: Array(UUID)}
  AND failure_id IN {failure_ids: Array(UUID)}
GROUP BY test_id, failure_id
