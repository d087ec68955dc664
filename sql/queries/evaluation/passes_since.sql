-- How often each identity of a few tests passed since a moment given for each test: the clean passes since a quarantine, for
-- tests whose last trouble was before it.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_test_ids = ['8c0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c11'];
SET param_since_ms = [1790000000000];
SET param_until_ms = 1795305600000;
SELECT test_id, pipeline_name, job_name, count() AS passes
FROM ci.executions
WHERE repository_id = {repository_id: UUID} AND on_default AND test_id IN {test_ids: Array(UUID)} AND status = 'passed' AND NOT is_flaky
  AND toUnixTimestamp64Milli(finished_at) > transform(toString(test_id), arrayMap(id -> toString(id), {test_ids: Array(UUID)}),
    {since_ms: Array(Int64)}, toInt64(0))
  AND toUnixTimestamp64Milli(finished_at) <= {until_ms: Int64}
GROUP BY test_id, pipeline_name, job_name
