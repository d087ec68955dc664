-- The runs of a window with their lane (src/domain/lanes.ts), for insights/lanes.sql and insights/lane_tests.sql. A run is an attempt
-- of a leg; one that spans midnight belongs to the day on which it began, so one more day is read on either side. The day leads the
-- key, so only these days are read. `of_peers` is the same for runs that differ in nothing but the lane. What does not say its
-- runner or region has no lane, and is nobody's peer.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_kind = 'runner';
SET param_start_ms = 1795219200000;
SET param_end_ms = 1795305600000;
SET param_branches = [];
SELECT
  min(day) AS run_day, sum(failed) > 0 AS is_red, groupUniqArrayArray(failed_tests) AS run_tests, max(place) AS run_place,
  max(branch) AS run_branch, min(first_at) AS began_at,
  multiIf(
    {kind: String} = 'runner', JSONExtractString(run_place, 'runner'),
    {kind: String} = 'region', JSONExtractString(run_place, 'region'),
    {kind: String} = 'hour', toString(toHour(began_at)),
    '') AS value,
  {kind: String} IN ('runner', 'region') AND value = '' AS is_unknown,
  (if({kind: String} IN ('pipeline', 'job', 'leg'), pipeline_name, ''), if({kind: String} IN ('job', 'leg'), job_name, ''),
    if({kind: String} = 'leg', axes, ''), value) AS lane,
  (if({kind: String} = 'pipeline', '', pipeline_name), if({kind: String} IN ('pipeline', 'job'), '', job_name),
    if({kind: String} IN ('pipeline', 'job', 'leg'), '', axes), is_unknown) AS of_peers
FROM ci.commit_runs
WHERE repository_id = {repository_id: UUID}
  AND day >= toDate(fromUnixTimestamp64Milli(greatest({start_ms: Int64}, 86400000), 'UTC'), 'UTC') - 1
  AND day <= toDate(fromUnixTimestamp64Milli({end_ms: Int64}, 'UTC'), 'UTC') + 1
GROUP BY commit_sha, pipeline_name, run_id, job_name, axes, run_attempt, on_default
HAVING sum(passed) + sum(failed) > 0
  AND began_at >= fromUnixTimestamp64Milli({start_ms: Int64}, 'UTC') AND began_at < fromUnixTimestamp64Milli({end_ms: Int64}, 'UTC')
  AND (empty({branches: Array(String)}) OR run_branch IN {branches: Array(String)})
