-- The tests that failed in the red runs of some lanes, each with its part of these runs: a run with four failed tests gives each
-- a quarter; and how much of that is beyond its part of the runs of all other lanes. Only days of the window are read.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_kind = 'runner';
SET param_start_ms = 1795219200000;
SET param_end_ms = 1795305600000;
SET param_branches = [];
SET param_pipelines = [''];
SET param_jobs = [''];
SET param_axes = [''];
SET param_values = ['runner-3'];
SET param_runs = [120];
SET param_all_runs = 900;
SET param_tests = 3;
WITH
  arrayZip({pipelines: Array(String)}, {jobs: Array(String)}, {axes: Array(String)}, {values: Array(String)}) AS asked,
  {runs: Array(Float64)}[indexOf(asked, lane)] AS lane_runs,
  part - lane_runs * (whole - part) / ({all_runs: Float64} - lane_runs) AS beyond
SELECT
  lane.1 AS pipeline_name, lane.2 AS job_name, lane.3 AS axes, lane.4 AS value, count() AS failed_tests,
  countIf(beyond > 0) AS tests_beyond,
  arraySlice(arrayReverseSort(test -> (test.3, test.1), groupArray(CAST((test_id, part, beyond),
    'Tuple(testId UUID, share Float64, beyond Float64)'))), 1, {tests: UInt32}) AS tests
FROM
(
  SELECT lane, test_id, part, sum(part) OVER (PARTITION BY test_id) AS whole
  FROM
  (
    SELECT lane, test_id, sum(1 / length(run_tests)) AS part
    FROM
    (
      /*include queries/insights/lane_runs*/
    )
    ARRAY JOIN run_tests AS test_id
    WHERE NOT is_unknown
    GROUP BY lane, test_id
  )
)
WHERE has(asked, lane)
GROUP BY lane
