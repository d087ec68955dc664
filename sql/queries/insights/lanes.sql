-- The lanes of a window, those with the most runs first: for each day, its runs, and how many of them would be red if the lane
-- were like its peers. Of runs of one day that differ in nothing but the lane, there are `n`, `r` of them red; `m` and `o` are of
-- the lane. 100,000 runs take 0.2 s on a busy machine, however many executions they have.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_kind = 'runner';
SET param_start_ms = 1795219200000;
SET param_end_ms = 1795305600000;
SET param_branches = [];
SET param_rows = 501;
SELECT
  lane.1 AS pipeline_name, lane.2 AS job_name, lane.3 AS axes, lane.4 AS value, is_unknown, sum(day_runs) AS runs, sum(day_red) AS red,
  groupArray(CAST((day_runs, day_red, compared_runs, compared_red, expected, own),
    'Tuple(runs UInt64, red UInt64, comparedRuns UInt64, comparedRed UInt64, expected Float64, own Float64)')) AS days
FROM
(
  SELECT
    lane, is_unknown, sum(m) AS day_runs, sum(o) AS day_red, sumIf(m, m < n) AS compared_runs, sumIf(o, m < n) AS compared_red,
    sumIf(m * r / n, m < n) AS expected, sumIf(o * (n - m) / n, m < n) AS own
  FROM
  (
    SELECT run_day, lane, is_unknown, m, o, sum(m) OVER peers AS n, sum(o) OVER peers AS r
    FROM
    (
      SELECT run_day, of_peers, lane, is_unknown, count() AS m, countIf(is_red) AS o
      FROM
      (
        /*include queries/insights/lane_runs*/
      )
      GROUP BY run_day, of_peers, lane, is_unknown
    )
    WINDOW peers AS (PARTITION BY run_day, of_peers)
  )
  GROUP BY run_day, lane, is_unknown
)
GROUP BY lane, is_unknown
ORDER BY is_unknown DESC, runs DESC, lane
LIMIT {rows: UInt32}
