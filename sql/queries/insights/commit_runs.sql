-- The runs of some commits, which tests failed in them, and whether they are troubled. The bloom filter leads to the
-- range of each commit in each day. Commits that are asked for at the same time share the statement, and its look at
-- the troubled runs.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_commits = ['1111111111111111111111111111111111111111'];
SELECT
  runs.commit_sha AS commit_sha, toUInt16(runs.day) AS day_number, runs.pipeline_name AS pipeline_name,
  runs.job_name AS job_name, runs.run_id AS run_id, runs.run_attempt AS run_attempt, on_default, run_branch,
  run_base_ref, run_pull_request, run_job_url, started_ms, ended_ms, run_passed, run_failed, tests,
  toString(troubles.trouble) AS trouble
FROM
(
  SELECT
    commit_sha, day, pipeline_name, job_name, run_id, run_attempt, on_default, max(branch) AS run_branch,
    max(base_ref) AS run_base_ref, max(pull_request) AS run_pull_request, max(job_url) AS run_job_url,
    toUnixTimestamp64Milli(min(first_at)) AS started_ms, toUnixTimestamp64Milli(max(last_at)) AS ended_ms,
    sum(passed) AS run_passed, sum(failed) AS run_failed,
    arrayMap(id -> toString(id), groupUniqArrayArray(failed_tests)) AS tests
  FROM ci.commit_runs
  WHERE repository_id = {repository_id: UUID} AND commit_sha IN {commits: Array(String)}
  GROUP BY commit_sha, day, pipeline_name, job_name, run_id, run_attempt, on_default
) AS runs
LEFT JOIN
(
  SELECT day, pipeline_name, job_name, run_id, run_attempt, trouble
  FROM ci.troubled_runs FINAL
  WHERE repository_id = {repository_id: UUID} AND trouble != 'none'
) AS troubles USING (day, pipeline_name, job_name, run_id, run_attempt)
