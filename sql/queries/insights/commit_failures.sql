-- The results on some commits of tests that failed there, with their failures: a range of the key for each test,
-- within the time of these commits. The tests come from another statement (commit_runs): as a subquery here, they
-- would not lead into the keys. Of 2 million executions, with 43 failed tests: 110 ms so, 60 ms in two statements.
-- Commits that are asked for at the same time share the statement: most ran in the same hours, and much the same
-- tests fail.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_commits = ['1111111111111111111111111111111111111111'];
SET param_test_ids = ['8c0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c11'];
SET param_on_default = [true, false];
SET param_start_ms = 1795219200000;
SET param_end_ms = 1795305600000;
SET param_message_length = 1000;
SELECT
  results.commit_sha AS commit_sha, toUInt16(toDate(results.finished_at, 'UTC')) AS day_number,
  toString(results.pipeline_name) AS pipeline_name, toString(results.job_name) AS job_name, results.run_id AS run_id,
  results.run_attempt AS run_attempt,
  toString(results.test_id) AS test_id, results.test_name AS test_name, results.status = 'failed' AS is_failed,
  results.is_quarantined AS is_quarantined, toUnixTimestamp64Milli(results.finished_at) AS finished_ms,
  causes.failures AS failures
FROM
(
  SELECT
    commit_sha, finished_at, pipeline_name, job_name, run_id, run_attempt, test_id, test_name, execution_id, status,
    is_quarantined
  FROM ci.executions
  WHERE repository_id = {repository_id: UUID} AND on_default IN {on_default: Array(Bool)}
    AND test_id IN {test_ids: Array(UUID)} AND finished_at >= fromUnixTimestamp64Milli({start_ms: Int64}, 'UTC')
    AND finished_at <= fromUnixTimestamp64Milli({end_ms: Int64}, 'UTC')
    AND commit_sha IN {commits: Array(String)} AND status != 'skipped'
) AS results
LEFT JOIN
(
  SELECT
    test_id, execution_id,
    groupArray(CAST((failure_id, exception_type, leftUTF8(exception_message, {message_length: UInt32})),
      'Tuple(id String, type String, message String)')) AS failures
  FROM ci.failures
  WHERE repository_id = {repository_id: UUID} AND on_default IN {on_default: Array(Bool)}
    AND test_id IN {test_ids: Array(UUID)} AND failed_at >= fromUnixTimestamp64Milli({start_ms: Int64}, 'UTC')
    AND failed_at <= fromUnixTimestamp64Milli({end_ms: Int64}, 'UTC')
  GROUP BY test_id, execution_id
) AS causes ON causes.test_id = results.test_id AND causes.execution_id = results.execution_id
