-- The commits of a repository on which something failed off the default branch since a day: when the newest failing run ended, and
-- whether a CI job with a failure ran there again.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_since_ms = 1790000000000;
SELECT
  commit_sha, max(failed_ms) AS newest_ms, max(attempts) > 1 AS is_repeated
FROM
(
  SELECT
    commit_sha, toUnixTimestamp64Milli(maxIf(last_at, failed > 0)) AS failed_ms, uniqExact(run_id, run_attempt) AS attempts
  FROM ci.commit_runs
  WHERE repository_id = {repository_id: UUID} AND NOT on_default AND commit_sha != ''
    AND day >= toDate(fromUnixTimestamp64Milli({since_ms: Int64}, 'UTC'), 'UTC')
  GROUP BY commit_sha, pipeline_name, job_name, axes
  HAVING sum(failed) > 0
)
GROUP BY commit_sha
