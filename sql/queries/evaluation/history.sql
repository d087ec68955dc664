-- Executions of some identities on the default branch in a span, to judge them again. Skipped ones prove nothing. The tests and the
-- moment are a prefix of the key. A test that runs often has many identities, of which few are meant: they are a list, because
-- a subquery with them took nearly half of the time of the statement.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_test_ids = ['8c0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c11'];
SET param_pipeline_names = ['CI'];
SET param_job_names = ['unit'];
SET param_axes = [''];
SET param_from_ms = 1790000000000;
SET param_to_ms = 1790086400000;
SELECT
  test_id, pipeline_name, job_name, axes, commit_sha, run_id, run_attempt,
  toString(execution_id) AS execution_id, status, is_flaky, is_retried, toUnixTimestamp64Milli(finished_at) AS finished_at_ms
FROM ci.executions
WHERE repository_id = {repository_id: UUID} AND on_default AND test_id IN {test_ids: Array(UUID)}
  AND finished_at >= fromUnixTimestamp64Milli({from_ms: Int64}, 'UTC')
  AND finished_at < fromUnixTimestamp64Milli({to_ms: Int64}, 'UTC') AND status != 'skipped'
  AND (test_id, pipeline_name, job_name, axes)
    IN arrayZip({test_ids: Array(UUID)}, {pipeline_names: Array(String)}, {job_names: Array(String)}, {axes: Array(String)})
