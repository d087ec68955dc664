-- The runs of days by what they go through: for each leg and `value`, its runner, region or hour, when its runs began, and of the
-- red ones again. Lanes of all kinds, and their peers, follow from it (src/domain/lane-days.ts).
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_kind = 'runner';
SET param_start_ms = 1795219200000;
SET param_end_ms = 1795305600000;
SET param_branches = [];
SELECT
  run_day, pipeline_name, job_name, axes,
  multiIf(
    {kind: String} = 'runner', JSONExtractString(run_place, 'runner'),
    {kind: String} = 'region', JSONExtractString(run_place, 'region'),
    {kind: String} = 'hour', toString(intDiv(began_ms, 3600000) % 24),
    '') AS value,
  groupArray(began_ms) AS starts, groupArrayIf(began_ms, is_red) AS red_starts
FROM
(
  /*include queries/insights/window_runs*/
)
WHERE began_ms >= {start_ms: Int64} AND began_ms < {end_ms: Int64}
GROUP BY run_day, pipeline_name, job_name, axes, value
