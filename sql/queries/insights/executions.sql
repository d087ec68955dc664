-- How often tests ran in each pipeline and CI job, each test in its own window: a range of the key for each. Tests that are
-- asked for at the same time share the statement, because it costs little more for 64 of them than for one.
SET param_repository_ids = ['5beeaeba-a982-5c8b-8869-7caf1b9175bf'];
SET param_test_ids = ['8c0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c11'];
SET param_starts_ms = [1795219200000];
SET param_ends_ms = [1795305600000];
WITH windows AS
(
  SELECT place, repository_id, test_id, start_ms, end_ms
  FROM system.one
  ARRAY JOIN
    arrayEnumerate({test_ids: Array(UUID)}) AS place, {repository_ids: Array(UUID)} AS repository_id,
    {test_ids: Array(UUID)} AS test_id, {starts_ms: Array(Int64)} AS start_ms, {ends_ms: Array(Int64)} AS end_ms
)
SELECT toUInt32(place) AS place, toString(pipeline_name) AS pipeline_name, toString(job_name) AS job_name, toInt64(count()) AS executions
FROM ci.executions AS executions
INNER JOIN windows ON windows.repository_id = executions.repository_id AND windows.test_id = executions.test_id
WHERE on_default AND (executions.repository_id, executions.test_id) IN arrayZip({repository_ids: Array(UUID)}, {test_ids: Array(UUID)})
  AND finished_at >= fromUnixTimestamp64Milli(arrayMin({starts_ms: Array(Int64)}), 'UTC')
  AND finished_at < fromUnixTimestamp64Milli(arrayMax({ends_ms: Array(Int64)}), 'UTC')
  AND toUnixTimestamp64Milli(finished_at) >= start_ms AND toUnixTimestamp64Milli(finished_at) < end_ms
GROUP BY place, pipeline_name, job_name
