-- The attempts of CI jobs of one run. The bloom filter leads to the commit's range of each day.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_commit_sha = '1111111111111111111111111111111111111111';
SET param_pipeline_name = 'CI';
SET param_run_id = '1001';
SELECT
  job_name, run_attempt, run_branch, run_base_ref, run_pull_request, run_job_url, is_on_default, started_ms, ended_ms,
  run_passed, run_failed, run_skipped, tests, toString(trouble) AS run_trouble
FROM
(
  SELECT
    day, pipeline_name, run_id, job_name, run_attempt, max(branch) AS run_branch, max(base_ref) AS run_base_ref,
    max(pull_request) AS run_pull_request, max(job_url) AS run_job_url, max(on_default) AS is_on_default,
    toUnixTimestamp64Milli(min(first_at)) AS started_ms, toUnixTimestamp64Milli(max(last_at)) AS ended_ms,
    sum(passed) AS run_passed, sum(failed) AS run_failed, sum(skipped) AS run_skipped,
    toUInt32(length(groupUniqArrayArray(failed_tests))) AS tests
  FROM ci.commit_runs
  WHERE repository_id = {repository_id: UUID} AND commit_sha = {commit_sha: String}
    AND pipeline_name = {pipeline_name: String} AND run_id = {run_id: String}
  GROUP BY day, pipeline_name, run_id, job_name, run_attempt
) AS runs
LEFT JOIN
(
  SELECT day, pipeline_name, job_name, run_id, run_attempt, trouble
  FROM ci.troubled_runs FINAL
  WHERE repository_id = {repository_id: UUID} AND trouble != 'none'
) AS troubles USING (day, pipeline_name, job_name, run_id, run_attempt)
ORDER BY started_ms, job_name, run_attempt
LIMIT 10000
