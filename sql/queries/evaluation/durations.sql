-- How long some tests took in their legs on the default branch, in microseconds: median and p95 of what passed, and the sum of
-- what passed or failed. `days` has the median of each UTC day with the commits of its first and last execution: only of those
-- whose medians since some day are longer than before by what is called growth, and these are few. That is asked only of tests of
-- which two days differ by as much, because it takes twice as long as all else. Everything is exact, and in whole numbers: so
-- merges, which change the order of rows, change nothing. A range of the key for each test.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_test_ids = ['8c0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c11'];
SET param_is_fold = false;
SET param_pipelines = [''];
SET param_jobs = [''];
SET param_start_day = 20780;
SET param_end_day = 20808;
SET param_days_min = 5;
SET param_times_min = 1.3;
SET param_us_min = 100000;
SELECT
  test_id, pipeline_name, job_name, leg, executions, of_passed[1] AS median_us, of_passed[2] AS p95_us, total_us,
  if(may_have_grown, all_days, []) AS days
FROM
(
  SELECT
    test_id, pipeline_name, job_name, leg, sum(day_executions) AS executions, sum(day_us) AS total_us,
    quantilesExactMerge(0.5, 0.95)(day_passed) AS of_passed,
    arraySort(one -> one.1, groupArrayIf(CAST((day, finalizeAggregation(day_passed)[1], first_commit, last_commit),
      'Tuple(day UInt16, us Int64, firstCommit String, lastCommit String)'), passed > 0)) AS all_days,
    arrayMap(one -> one.2, all_days) AS day_medians,
    if(NOT {is_fold: Bool} AND arrayMax(day_medians) >= {times_min: Float64} * arrayMin(day_medians)
      AND arrayMax(day_medians) >= {us_min: UInt32} + arrayMin(day_medians), day_medians, []) AS medians,
    range({days_min: UInt8}, greatest(length(medians) - {days_min: UInt8} + 1, {days_min: UInt8})) AS splits,
    arrayExists(
      (before, after) -> after >= {times_min: Float64} * before AND after >= {us_min: UInt32} + before,
      arrayMap(at -> arrayReduce('quantileExactInclusive(0.5)', arraySlice(medians, 1, at)), splits),
      arrayMap(at -> arrayReduce('quantileExactInclusive(0.5)', arraySlice(medians, at + 1)), splits)) AS may_have_grown
  FROM
  (
    SELECT
      test_id, pipeline_name, job_name, if({is_fold: Bool}, '*', axes) AS leg, toUInt16(toDate(finished_at, 'UTC')) AS day,
      count() AS day_executions, sum(toInt64(round(duration_s * 1000000))) AS day_us, countIf(status = 'passed') AS passed,
      quantilesExactStateIf(0.5, 0.95)(toInt64(round(duration_s * 1000000)), status = 'passed') AS day_passed,
      argMinIf(commit_sha, (finished_at, execution_id), status = 'passed') AS first_commit,
      argMaxIf(commit_sha, (finished_at, execution_id), status = 'passed') AS last_commit
    FROM ci.executions
    WHERE repository_id = {repository_id: UUID} AND on_default AND test_id IN {test_ids: Array(UUID)} AND status != 'skipped'
      AND finished_at >= toDateTime64({start_day: UInt16} * 86400, 3, 'UTC')
      AND finished_at < toDateTime64({end_day: UInt16} * 86400, 3, 'UTC')
      AND (NOT {is_fold: Bool} OR has(arrayZip({pipelines: Array(String)}, {jobs: Array(String)}), (pipeline_name, job_name)))
    GROUP BY test_id, pipeline_name, job_name, leg, day
  )
  GROUP BY test_id, pipeline_name, job_name, leg
  HAVING sum(passed) > 0
)
