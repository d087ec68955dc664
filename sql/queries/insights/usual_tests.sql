-- How many tests the legs of the CI jobs of some pipelines ran on the default branch in a few weeks: first attempts only,
-- because later ones may run only what failed. The days of a repository are one range of the key; a row is an attempt of a leg.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_pipelines = ['CI'];
SET param_first_day = 20764;
SET param_last_day = 20778;
SELECT
  pipeline_name, job_name, axes, toUInt32(count()) AS runs, quantileExactLow(0.25)(tests) AS lower_quartile,
  quantileExactLow(0.5)(tests) AS median
FROM
(
  SELECT pipeline_name, job_name, axes, run_id, toUInt32(sum(passed + failed)) AS tests
  FROM ci.runs
  WHERE repository_id = {repository_id: UUID} AND day >= toDate({first_day: UInt16}) AND day <= toDate({last_day: UInt16})
    AND pipeline_name IN {pipelines: Array(String)} AND run_attempt = 1
  GROUP BY pipeline_name, job_name, axes, run_id
)
GROUP BY pipeline_name, job_name, axes
ORDER BY runs DESC
LIMIT 10000
