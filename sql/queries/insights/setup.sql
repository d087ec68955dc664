-- What of a repository has reported in the last days: its default branch, pull requests, and other branches, each with its
-- newest run. The day leads the key after the repository, so only these days are read: a row for each attempt of a CI job.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_days = 30;
SET param_now_ms = 1795305600000;
SELECT
  multiIf(on_default, 'default_branch', pull_request > 0, 'pull_request', 'other_branch') AS source,
  toUnixTimestamp64Milli(max(last_at)) AS newest_ms,
  argMax(pipeline_name, last_at) AS newest_pipeline, argMax(job_name, last_at) AS newest_job,
  argMax(branch, last_at) AS newest_branch, argMax(commit_sha, last_at) AS newest_commit,
  argMax(pull_request, last_at) AS newest_pull
FROM ci.commit_runs
WHERE repository_id = {repository_id: UUID}
  AND day > toDate(fromUnixTimestamp64Milli({now_ms: Int64}, 'UTC'), 'UTC') - {days: UInt16}
GROUP BY source
