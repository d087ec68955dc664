-- What ran in every repository in the last days: failed executions on the default branch by day, and the newest run on any
-- branch. One row per repository, for the list of them. It reads all repositories at once, and is kept for ten seconds for
-- everyone who looks: a column of 10,000 ids would cost more than the rows that it leaves out. Days are numbered from the
-- first one; those without a failure are left out.
SET param_start_ms = 1794096000000;
WITH toDate(fromUnixTimestamp64Milli({start_ms: Int64}, 'UTC'), 'UTC') AS first_day
SELECT
  repository_id,
  toUnixTimestamp64Milli(max(newest_at)) AS last_ms,
  groupArrayIf((toInt32(day - first_day), failures), failures > 0) AS days
FROM (
  SELECT repository_id, day, sumIf(failed, on_default) AS failures, max(last_at) AS newest_at
  FROM ci.commit_runs
  WHERE day >= first_day
  GROUP BY repository_id, day
)
GROUP BY repository_id
