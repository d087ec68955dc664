-- The commits of a pull request on which something ran, the newest first, with everything that ran on them. The bloom
-- filters lead to the runs of the pull request, then to those of their commits: a run may not have said which pull
-- request it was for, and a branch may run beside it.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_pull_request = 7;
SET param_rows = 100;
SELECT
  commit_sha, max(branch) AS run_branch, max(base_ref) AS run_base_ref, toUnixTimestamp64Milli(min(first_at)) AS started_ms,
  toUnixTimestamp64Milli(max(last_at)) AS ended_ms, uniqExact(pipeline_name, run_id) AS runs,
  sum(passed) AS run_passed, sum(failed) AS run_failed, sum(skipped) AS run_skipped, count() OVER () AS commits
FROM ci.commit_runs
WHERE repository_id = {repository_id: UUID} AND commit_sha IN
  (
    SELECT commit_sha FROM ci.commit_runs
    WHERE repository_id = {repository_id: UUID} AND pull_request = {pull_request: UInt32} AND commit_sha != ''
  )
GROUP BY commit_sha
ORDER BY started_ms DESC, commit_sha
LIMIT {rows: UInt32}
