-- What some tests took in their legs on each UTC day on which they passed on the default branch, in order, also as a multiple of
-- what the usual execution of the leg took that day; and the commits of the first and the last execution. A range of the key for
-- each test; of the legs, three columns of the window.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_start_ms = 1795219200000;
SET param_end_ms = 1795305600000;
SET param_test_ids = ['8c0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c11'];
SELECT
  test_id, pipeline_name, job_name, axes,
  arraySort(one -> one.1, groupArray(CAST((toUInt16(day), seconds, seconds / greatest(usual, 0.000001), first_commit, last_commit),
    'Tuple(day UInt16, seconds Float64, relative Float64, firstCommit String, lastCommit String)'))) AS days
FROM
(
  SELECT
    test_id, pipeline_name, job_name, axes, toDate(finished_at) AS day, quantile(0.5)(duration_s) AS seconds,
    argMin(commit_sha, finished_at) AS first_commit, argMax(commit_sha, finished_at) AS last_commit
  FROM ci.executions
  WHERE repository_id = {repository_id: UUID} AND on_default AND status = 'passed' AND test_id IN {test_ids: Array(UUID)}
    AND finished_at >= fromUnixTimestamp64Milli({start_ms: Int64}, 'UTC') AND finished_at < fromUnixTimestamp64Milli({end_ms: Int64}, 'UTC')
  GROUP BY test_id, pipeline_name, job_name, axes, day
) AS own
JOIN
(
  SELECT pipeline_name, job_name, axes, toDate(finished_at) AS day, quantile(0.5)(duration_s) AS usual
  FROM ci.executions
  WHERE repository_id = {repository_id: UUID} AND on_default AND status = 'passed'
    AND finished_at >= fromUnixTimestamp64Milli({start_ms: Int64}, 'UTC') AND finished_at < fromUnixTimestamp64Milli({end_ms: Int64}, 'UTC')
  GROUP BY pipeline_name, job_name, axes, day
) AS legs USING (pipeline_name, job_name, axes, day)
GROUP BY test_id, pipeline_name, job_name, axes
