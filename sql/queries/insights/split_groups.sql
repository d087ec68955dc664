-- How long the tests of each file and class take together: the sum of their medians (split_tests). A class is
-- a test's name without its own name at the end, and without the subtests of Go below that. Reads the columns named here of
-- the whole repository, once for a run of CI.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_since_ms = 1794700800000;
SET param_pipeline = 'CI';
SET param_job = 'unit';
SET param_axes = '';
SET param_groups = 50000;
WITH
  ({pipeline: String} = '' OR pipeline_name = {pipeline: String}) AND ({job: String} = '' OR job_name = {job: String})
    AND ({axes: String} = '' OR axes = {axes: String}) AS is_of_leg,
  position(name, concat('.', own_name, '/')) AS subtest_at,
  multiIf(
    own_name = '', '',
    endsWith(name, own_name), substring(name, 1, length(name) - length(own_name)),
    subtest_at > 0, substring(name, 1, subtest_at - 1),
    '') AS before
SELECT
  file, replaceRegexpOne(before, '(?: |›|>|-|[.:#/])+$', '') AS class_name, sum(test_s) AS seconds, toUInt32(count()) AS tests
FROM
(
  SELECT
    any(test_name) AS name, argMax(filepath, finished_at) AS file, argMax(function, finished_at) AS own_name,
    if(countIf(is_of_leg) > 0, quantileIf(0.5)(duration_s, is_of_leg), quantile(0.5)(duration_s)) AS test_s
  FROM ci.executions
  WHERE repository_id = {repository_id: UUID} AND on_default
    AND finished_at >= fromUnixTimestamp64Milli({since_ms: Int64}, 'UTC') AND status = 'passed'
  GROUP BY test_id
)
GROUP BY file, class_name
ORDER BY seconds DESC, file, class_name
LIMIT {groups: UInt32}
