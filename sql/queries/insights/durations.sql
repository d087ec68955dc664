-- How long tests take in their legs on the default branch: median and p95 of what passed, and the time of all that passed or
-- failed. Those that take the most time, and how much all take together. `recent` and `earlier` are medians of the days from
-- `recent_ms` on and of those before: only where these differ, days are looked at. Reads every execution of the window, which
-- takes seconds where there are millions: so an answer is kept.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_start_ms = 1795219200000;
SET param_end_ms = 1795305600000;
SET param_middle_ms = 1795262400000;
SET param_recent_ms = 1795284000000;
SET param_rows = 5001;
SELECT
  test_id, pipeline_name, job_name, axes, any(test_name) AS test_name, countIf(status = 'passed') AS passed, count() AS executions,
  sum(duration_s) AS seconds, quantilesIf(0.5, 0.95)(duration_s, status = 'passed') AS of_passed,
  sum(sum(duration_s)) OVER () AS all_seconds,
  quantileIf(0.5)(duration_s, status = 'passed' AND finished_at >= fromUnixTimestamp64Milli({recent_ms: Int64}, 'UTC')) AS recent,
  quantileIf(0.5)(duration_s, status = 'passed' AND finished_at < fromUnixTimestamp64Milli({recent_ms: Int64}, 'UTC')) AS earlier,
  quantileIf(0.5)(duration_s, status = 'passed' AND finished_at >= fromUnixTimestamp64Milli({middle_ms: Int64}, 'UTC')) AS second_half,
  quantileIf(0.5)(duration_s, status = 'passed' AND finished_at < fromUnixTimestamp64Milli({middle_ms: Int64}, 'UTC')) AS first_half
FROM ci.executions
WHERE repository_id = {repository_id: UUID} AND on_default AND status != 'skipped'
  AND finished_at >= fromUnixTimestamp64Milli({start_ms: Int64}, 'UTC') AND finished_at < fromUnixTimestamp64Milli({end_ms: Int64}, 'UTC')
GROUP BY test_id, pipeline_name, job_name, axes
HAVING passed > 0
ORDER BY seconds DESC, test_id, pipeline_name, job_name, axes
LIMIT {rows: UInt32}
