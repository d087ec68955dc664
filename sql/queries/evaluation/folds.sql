-- The stored fold of each identity of some tests.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_test_ids = ['8c0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c11'];
SELECT test_id, pipeline_name, job_name, health, toUnixTimestamp64Milli(newest_at) AS newest_at_ms, checkpoint,
  baseline
FROM ci.health FINAL
WHERE repository_id = {repository_id: UUID} AND test_id IN {test_ids: Array(UUID)}
