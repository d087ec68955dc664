-- The runs of some commits, and which tests failed in them. The bloom filter leads to the range of each commit in each day.
-- A run has a row for each upload until they are merged; readers add them up, because to group so few rows takes longer than
-- to read them. Commits that are asked for at the same time share the statement.
SET param_repository_ids = ['5beeaeba-a982-5c8b-8869-7caf1b9175bf'];
SET param_commits = ['1111111111111111111111111111111111111111'];
SELECT
  repository_id, commit_sha, toUInt16(day) AS day_number, pipeline_name, job_name, axes, run_id, run_attempt, on_default, branch, base_ref,
  pull_request, job_url, toUnixTimestamp64Milli(first_at) AS started_ms, toUnixTimestamp64Milli(last_at) AS ended_ms,
  passed, failed, skipped, failed_tests
FROM ci.commit_runs
WHERE repository_id IN {repository_ids: Array(UUID)} AND commit_sha IN {commits: Array(String)}
