-- The pull requests on which something ran since a day, each with its newest commit and everything that ran on it for the pull
-- request. The primary key leads to the days; runs of branches without a pull request are left out as they are read. A list is
-- read once in ten seconds for all pages, filters and readers of a repository.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_since_ms = 1795219200000;
SET param_rows = 5000;
SELECT
  pull_request AS number, argMax(commit_sha, started_at) AS newest_commit, argMax(run_branch, started_at) AS head_ref,
  toUnixTimestamp64Milli(max(started_at)) AS started_ms, toUnixTimestamp64Milli(argMax(ended_at, started_at)) AS ended_ms,
  argMax(run_passed, started_at) AS newest_passed, argMax(run_failed, started_at) AS newest_failed,
  argMax(run_skipped, started_at) AS newest_skipped
FROM
(
  SELECT
    pull_request, commit_sha, max(branch) AS run_branch, min(first_at) AS started_at, max(last_at) AS ended_at,
    sum(passed) AS run_passed, sum(failed) AS run_failed, sum(skipped) AS run_skipped
  FROM ci.commit_runs
  WHERE repository_id = {repository_id: UUID} AND pull_request != 0 AND commit_sha != ''
    AND day >= toDate(fromUnixTimestamp64Milli({since_ms: Int64}, 'UTC'), 'UTC')
  GROUP BY pull_request, commit_sha
)
GROUP BY number
ORDER BY started_ms DESC, number DESC
LIMIT {rows: UInt32}
