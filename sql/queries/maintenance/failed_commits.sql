-- The commits of a repository on which something failed since a day, on the default branch or off it: when the newest failing run
-- ended, and whether there is something to compare: on the default branch another leg, off it the CI job again.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_since_ms = 1790000000000;
SELECT
  commit_sha, max(failed_ms) AS newest_ms, max(if(on_default, legs, attempts)) > 1 AS is_repeated
FROM
(
  SELECT
    commit_sha, on_default, max(failed_ms) AS failed_ms, max(if(failures > 0, attempts, 0)) AS attempts, count() AS legs
  FROM
  (
    SELECT
      commit_sha, on_default, toUnixTimestamp64Milli(maxIf(last_at, failed > 0)) AS failed_ms, sum(failed) AS failures,
      uniqExact(run_id, run_attempt) AS attempts
    FROM ci.commit_runs
    WHERE repository_id = {repository_id: UUID} AND commit_sha != ''
      AND day >= toDate(fromUnixTimestamp64Milli({since_ms: Int64}, 'UTC'), 'UTC')
    GROUP BY commit_sha, on_default, pipeline_name, job_name, axes
  )
  GROUP BY commit_sha, on_default
  HAVING sum(failures) > 0
)
GROUP BY commit_sha
