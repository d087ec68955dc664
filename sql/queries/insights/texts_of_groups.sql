-- A type and message of some failure groups on any branch; the beginning of messages, which is all that signatures read. Test
-- and group are the key.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_test_ids = ['8c0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c11'];
SET param_failure_ids = ['8c0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c12'];
SELECT
  test_id, failure_id, any(exception_type) AS type, any(substringUTF8(exception_message, 1, 8000)) AS message
FROM ci.failures
WHERE repository_id = {repository_id: UUID} AND on_default IN (false, true) AND test_id IN {test_ids: Array(UUID)}
  AND failure_id IN {failure_ids: Array(UUID)}
GROUP BY test_id, failure_id
