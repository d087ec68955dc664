-- What the usual execution of each leg took on each UTC day, in seconds: the median of what passed on the default branch, to half
-- a per cent, so that few distinct values are counted. Columns of the window, three of them of few values.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_start_day = 20780;
SET param_end_day = 20808;
SELECT
  pipeline_name, job_name, axes, toUInt16(toDate(finished_at, 'UTC')) AS day,
  quantileExactWeighted(0.5)(exp2(round(log2(duration_s) * 128) / 128), 1) AS seconds
FROM ci.executions
WHERE repository_id = {repository_id: UUID} AND on_default AND status = 'passed'
  AND finished_at >= toDateTime64({start_day: UInt16} * 86400, 3, 'UTC')
  AND finished_at < toDateTime64({end_day: UInt16} * 86400, 3, 'UTC')
GROUP BY pipeline_name, job_name, axes, day
