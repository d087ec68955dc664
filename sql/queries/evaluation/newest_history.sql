-- Executions of some identities on the default branch since a moment of each test, and of each the last few of some time before
-- that: enough to know where it stood then, if it has only passed since. A range of the key for each test; of what is before the
-- moment, a few rows leave the engine. A short time leaves out all parts but those of the last inserts. The identities are a
-- list: a subquery with them took a fifth of the time of the statement.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_test_ids = ['8c0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c11'];
SET param_pipeline_names = ['CI'];
SET param_job_names = ['unit'];
SET param_sinces_ms = [1790000000000];
SET param_before_ms = 3600000;
WITH {sinces_ms: Array(Int64)}[indexOf({test_ids: Array(UUID)}, test_id)] AS since_ms
SELECT
  test_id, pipeline_name, job_name, commit_sha, run_id, run_attempt,
  toString(execution_id) AS execution_id, status, is_flaky, is_retried, toUnixTimestamp64Milli(finished_at) AS finished_at_ms
FROM ci.executions AS executions
WHERE repository_id = {repository_id: UUID} AND on_default AND test_id IN {test_ids: Array(UUID)}
  AND finished_at >= fromUnixTimestamp64Milli(arrayMin({sinces_ms: Array(Int64)}) - {before_ms: Int64}, 'UTC') AND status != 'skipped'
  AND (test_id, pipeline_name, job_name)
    IN arrayZip({test_ids: Array(UUID)}, {pipeline_names: Array(String)}, {job_names: Array(String)})
ORDER BY finished_at DESC
LIMIT 4 BY test_id, pipeline_name, job_name, if(finished_at_ms >= since_ms, executions.execution_id, 0)
