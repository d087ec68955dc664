-- How long some tests take: the median of what passed on the default branch in a few weeks, in one leg where it is known
-- there, else in all. A range of the key for each test. An empty pipeline, job or axes stand for every one.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_test_ids = ['8c0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c11'];
SET param_since_ms = 1794700800000;
SET param_pipeline = 'CI';
SET param_job = 'unit';
SET param_axes = '';
WITH
  ({pipeline: String} = '' OR pipeline_name = {pipeline: String}) AND ({job: String} = '' OR job_name = {job: String})
    AND ({axes: String} = '' OR axes = {axes: String}) AS is_of_leg
SELECT
  test_id, if(countIf(is_of_leg) > 0, quantileIf(0.5)(duration_s, is_of_leg), quantile(0.5)(duration_s)) AS seconds
FROM ci.executions
WHERE repository_id = {repository_id: UUID} AND on_default AND test_id IN {test_ids: Array(UUID)}
  AND finished_at >= fromUnixTimestamp64Milli({since_ms: Int64}, 'UTC') AND status = 'passed'
GROUP BY test_id
