-- What each identity of a few tests has shown since a moment given for each test: the evidence for automatic quarantine. Read
-- only for tests that are flaky or broken and not quarantined. Executions held back prove nothing.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_test_ids = ['8c0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c11'];
SET param_since_ms = [1790000000000];
WITH
  verdicts AS
  (
    SELECT execution_id, is_flaky FROM ci.flaky_verdicts FINAL
    WHERE repository_id = {repository_id: UUID} AND test_id IN {test_ids: Array(UUID)}
  )
SELECT
  test_id, pipeline_name, job_name, any(name) AS test_name, count() AS executions, countIf(has_failed) AS failures,
  toUnixTimestamp64Milli(min(at)) AS first_ms, toUnixTimestamp64Milli(max(at)) AS newest_ms,
  uniqExactIf(if(commit_sha = '', concat('run ', run_id), commit_sha), is_flaky_execution) AS flaky_commits,
  uniqExactIf(commit_sha, is_broken) AS broken_commits,
  toUnixTimestamp64Milli(minIf(at, is_broken)) AS broken_first_ms,
  toUnixTimestamp64Milli(maxIf(at, is_broken)) AS broken_newest_ms
FROM
(
  SELECT
    test_id, pipeline_name, job_name, test_name AS name, finished_at AS at, commit_sha, run_id, status = 'failed' AS has_failed,
    execution_id IN (SELECT execution_id FROM verdicts WHERE is_flaky) AS is_flaky_execution,
    maxIf(finished_at, status = 'passed') OVER (PARTITION BY test_id, pipeline_name, job_name) AS last_pass,
    has_failed AND commit_sha != '' AND at > last_pass AS is_broken
  FROM ci.executions
  WHERE repository_id = {repository_id: UUID} AND on_default AND test_id IN {test_ids: Array(UUID)} AND status != 'skipped'
    AND toUnixTimestamp64Milli(finished_at) > transform(toString(test_id), arrayMap(id -> toString(id), {test_ids: Array(UUID)}),
      {since_ms: Array(Int64)}, toInt64(0))
    AND execution_id NOT IN
    (
      SELECT execution_id FROM ci.flaky_verdicts FINAL
      WHERE repository_id = {repository_id: UUID} AND test_id IN {test_ids: Array(UUID)} AND rule IN ('held_back', 'pending')
    )
)
GROUP BY test_id, pipeline_name, job_name
