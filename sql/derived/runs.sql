-- How often each run (an attempt of a CI job) passed and failed, by UTC day. Skipped executions prove nothing.
SET param_is_all = false;
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SELECT
  repository_id, toDate(finished_at, 'UTC') AS day, pipeline_name, job_name, axes, run_id, run_attempt,
  min(finished_at) AS first_at, max(finished_at) AS last_at,
  countIf(status = 'passed') AS passed, countIf(status = 'failed') AS failed
FROM ci.executions
WHERE on_default AND status != 'skipped' AND ({is_all: Bool} OR repository_id = {repository_id: UUID})
GROUP BY repository_id, day, pipeline_name, job_name, axes, run_id, run_attempt
