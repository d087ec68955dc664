-- The results on some commits of tests that failed there: a range of the key for each test, within the time of these commits.
-- The tests come from another statement (runs), and the failures from a third one (failures): in a subquery,
-- the tests would not lead into the keys, and to plan a join takes as long as to run both. A failed execution has a row of
-- its own, the others of a test in a run share one. Commits that are asked for at the same time share the statement: most ran
-- in the same hours, and much the same tests fail.
SET param_repository_ids = ['5beeaeba-a982-5c8b-8869-7caf1b9175bf'];
SET param_commits = ['1111111111111111111111111111111111111111'];
SET param_test_ids = ['8c0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c11'];
SET param_on_default = [true, false];
SET param_start_ms = 1795219200000;
SET param_end_ms = 1795305600000;
SELECT
  repository_id, commit_sha, toUInt16(toDate(finished_at, 'UTC')) AS day_number, pipeline_name, job_name, axes, run_id, run_attempt,
  test_id, test_name, status = 'failed' AS is_failed, if(is_failed, toString(execution_id), '') AS id, is_quarantined,
  toUnixTimestamp64Milli(max(finished_at)) AS finished_ms, count() AS executions
FROM ci.executions
WHERE repository_id IN {repository_ids: Array(UUID)} AND on_default IN {on_default: Array(Bool)}
  AND test_id IN {test_ids: Array(UUID)} AND finished_at >= fromUnixTimestamp64Milli({start_ms: Int64}, 'UTC')
  AND finished_at <= fromUnixTimestamp64Milli({end_ms: Int64}, 'UTC')
  AND commit_sha IN {commits: Array(String)} AND status != 'skipped'
GROUP BY
  repository_id, commit_sha, day_number, pipeline_name, job_name, axes, run_id, run_attempt, test_id, test_name, is_failed, id,
  is_quarantined
