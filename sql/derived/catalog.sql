-- Per month and identity on the default branch: how often it ran, its newest execution, its last success and failure.
-- Skipped executions count, so that a test that is always skipped can be found.
SET param_is_all = false;
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SELECT
  repository_id, test_id, pipeline_name, job_name, toStartOfMonth(toDate(finished_at, 'UTC')) AS month,
  anyLast(e.test_name) AS test_name, count() AS executions,
  maxIf(finished_at, status = 'passed') AS last_success_at, maxIf(finished_at, status = 'failed') AS last_failure_at,
  max((finished_at, execution_id, status, toString(framework), toString(framework_version), toString(language), filepath,
    function)) AS last
FROM ci.executions AS e
WHERE on_default AND ({is_all: Bool} OR repository_id = {repository_id: UUID})
GROUP BY repository_id, test_id, pipeline_name, job_name, month
