-- Everything retained of some tests on the default branch, skipped executions included: what their state follows from. A row for
-- each identity, with a list for each column: a row for each execution would take most of a rebuild to parse. Of the newest
-- execution, what is shown of it.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_test_ids = ['8c0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c11'];
SELECT
  test_id, pipeline_name, job_name, axes, any(executions.test_name) AS test_name,
  groupArray(commit_sha) AS commits, groupArray(run_id) AS run_ids, groupArray(run_attempt) AS run_attempts,
  groupArray(toString(execution_id)) AS execution_ids, groupArray(status) AS statuses, groupArray(is_flaky) AS flaky,
  groupArray(is_retried) AS retried, groupArray(failures) AS failure_counts,
  groupArray(toUnixTimestamp64Milli(finished_at)) AS finished_ms,
  argMax((toString(framework), toString(framework_version), toString(language), filepath, function),
    (finished_at, execution_id)) AS shown
FROM ci.executions AS executions
WHERE repository_id = {repository_id: UUID} AND on_default AND test_id IN {test_ids: Array(UUID)}
GROUP BY test_id, pipeline_name, job_name, axes
