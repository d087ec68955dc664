-- The tests that failed in the red runs of some lanes, each with its part of these runs: a run with four failed tests gives each
-- a quarter. `beyond` is how much of that is more than the lane's share of what the test has among peers (lanes.sql), here of all
-- days together: of `n` runs that differ in nothing but the lane, `m` are of it. Only days of the window are read, twice.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_kind = 'runner';
SET param_start_ms = 1795219200000;
SET param_end_ms = 1795305600000;
SET param_branches = [];
SET param_pipelines = [''];
SET param_jobs = [''];
SET param_axes = [''];
SET param_values = ['runner-3'];
SET param_tests = 3;
SELECT
  lane.1 AS pipeline_name, lane.2 AS job_name, lane.3 AS axes, lane.4 AS value, countIf(part > 0) AS failed_tests,
  countIf(beyond > 0) AS tests_beyond, sum(beyond) AS red_beyond,
  arraySlice(arrayReverseSort(test -> (test.3, test.1), groupArrayIf(CAST((test_id, part, beyond),
    'Tuple(testId UUID, share Float64, beyond Float64)'), part > 0)), 1, {tests: UInt32}) AS tests
FROM
(
  SELECT
    lane, test_id, sum(arraySum(one -> if(one.1 = lane, one.2, 0), parts)) AS part,
    sum(arraySum(one -> if(one.1 = lane, one.2, 0), parts) - m / n * arraySum(one -> one.2, parts)) AS beyond
  FROM
  (
    SELECT of_peers, lane, count() AS m, sum(count()) OVER (PARTITION BY of_peers) AS n
    FROM
    (
      /*include queries/insights/lane_runs*/
    )
    WHERE NOT is_unknown
    GROUP BY of_peers, lane
  ) AS lanes
  JOIN
  (
    SELECT of_peers, test_id, groupArray((lane, 1 / length(run_tests))) AS parts
    FROM
    (
      /*include queries/insights/lane_runs*/
    )
    ARRAY JOIN run_tests AS test_id
    WHERE NOT is_unknown
    GROUP BY of_peers, test_id
  ) AS failed USING (of_peers)
  WHERE has(arrayZip({pipelines: Array(String)}, {jobs: Array(String)}, {axes: Array(String)}, {values: Array(String)}), lane)
  GROUP BY lane, test_id
)
GROUP BY lane
