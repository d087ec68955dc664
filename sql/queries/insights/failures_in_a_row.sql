-- With which failures the rows of failures began that hold some executions of a test: of each pipeline and CI job, what failed
-- without a pass or a flaky execution in between. Held-back executions prove nothing. Ranges of the key of one test.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_test_id = '8c0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c11';
SET param_execution_ids = [1];
SELECT
  arrayMap(id -> toString(id), arrayIntersect(groupArray(execution_id), {execution_ids: Array(UInt64)})) AS ids,
  argMin((toString(execution_id), commit_sha), position) AS first,
  toString(first.1) AS first_id, first.2 AS first_commit
FROM
(
  SELECT
    pipeline_name, job_name, execution_id, commit_sha, is_end,
    (finished_at, run_id, run_attempt, execution_id) AS position,
    sum(is_end) OVER (PARTITION BY pipeline_name, job_name ORDER BY position ASC) AS ends
  FROM
  (
    SELECT
      pipeline_name, job_name, finished_at, run_id, run_attempt, execution_id, commit_sha,
      status = 'passed' OR verdict = 'flaky' AS is_end
    FROM
    (
      SELECT pipeline_name, job_name, finished_at, run_id, run_attempt, execution_id, commit_sha, status
      FROM ci.executions
      WHERE repository_id = {repository_id: UUID} AND on_default AND test_id = {test_id: UUID} AND status != 'skipped'
    ) AS results
    LEFT JOIN
    (
      SELECT execution_id, multiIf(is_flaky, 'flaky', rule IN ('held_back', 'pending'), 'held', '') AS verdict
      FROM ci.flaky_verdicts FINAL
      WHERE repository_id = {repository_id: UUID} AND test_id = {test_id: UUID}
    ) AS verdicts USING (execution_id)
    WHERE verdict != 'held'
  )
)
WHERE NOT is_end
GROUP BY pipeline_name, job_name, ends
HAVING notEmpty(ids)
