-- The commits on which each leg of a CI job ran on the default branch since a day, in the order in which they began there. A
-- range of days of the key; rows are runs, not executions.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_since_ms = 1793400000000;
SELECT
  toString(pipeline_name) AS pipeline, toString(job_name) AS job, toString(axes) AS leg,
  arraySort(groupArray((begun_ms, commit_sha))) AS commits
FROM (
  SELECT pipeline_name, job_name, axes, commit_sha, toUnixTimestamp64Milli(min(first_at)) AS begun_ms
  FROM ci.commit_runs
  WHERE repository_id = {repository_id: UUID} AND on_default AND commit_sha != ''
    AND day >= toDate(fromUnixTimestamp64Milli({since_ms: Int64}, 'UTC'), 'UTC')
  GROUP BY pipeline_name, job_name, axes, commit_sha
)
GROUP BY pipeline, job, leg
