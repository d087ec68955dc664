-- As executions.sql, for one test and only for legs with some values of axes.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_test_id = '8c0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c11';
SET param_start_ms = 1795219200000;
SET param_end_ms = 1795305600000;
SET param_axis_names = ['os'];
SET param_axis_pairs = ['os:linux', 'os:windows'];
SELECT toString(pipeline_name) AS pipeline_name, toString(job_name) AS job_name, toInt64(count()) AS executions
FROM ci.executions AS executions
WHERE repository_id = {repository_id: UUID} AND on_default AND test_id = {test_id: UUID}
  AND finished_at >= fromUnixTimestamp64Milli({start_ms: Int64}, 'UTC')
  AND finished_at < fromUnixTimestamp64Milli({end_ms: Int64}, 'UTC')
  AND arrayAll(name -> has({axis_pairs: Array(String)}, concat(name, ':', JSONExtractString(toString(axes), name))),
    {axis_names: Array(String)})
GROUP BY executions.pipeline_name, executions.job_name
