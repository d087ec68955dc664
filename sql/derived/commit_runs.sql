-- What ran on each commit, by attempt of a CI job and UTC day: how its tests ended, which of them failed, and which of their
-- executions.
SET param_is_all = false;
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SELECT
  repository_id, toDate(finished_at, 'UTC') AS day, commit_sha, toString(pipeline_name) AS pipeline_name, run_id,
  toString(job_name) AS job_name, toString(axes) AS axes, run_attempt, on_default, max(e.branch) AS branch,
  max(e.base_ref) AS base_ref, max(e.pull_request) AS pull_request, max(e.job_url) AS job_url,
  max(toString(e.place)) AS place, min(finished_at) AS first_at, max(finished_at) AS last_at,
  countIf(status = 'passed') AS passed, countIf(status = 'failed') AS failed, countIf(status = 'skipped') AS skipped,
  groupUniqArrayIf(test_id, status = 'failed') AS failed_tests,
  groupUniqArrayIf(CAST((test_id, execution_id, toUnixTimestamp64Milli(finished_at)),
    'Tuple(test_id UUID, execution_id UInt64, finished_ms Int64)'), status = 'failed') AS failed_executions
FROM ci.executions AS e
WHERE {is_all: Bool} OR repository_id = {repository_id: UUID}
GROUP BY repository_id, day, commit_sha, pipeline_name, run_id, job_name, axes, run_attempt, on_default
