-- The runs of some days in which tests failed, on any branch, with these tests. The day leads the key after the repository.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_from_day = 20700;
SET param_to_day = 20707;
SELECT
  toUInt16(day) AS day_number, commit_sha, pipeline_name, run_id, job_name, axes, run_attempt, on_default,
  toUnixTimestamp64Milli(min(first_at)) AS started_at_ms, groupUniqArrayArray(failed_tests) AS tests
FROM ci.commit_runs
WHERE repository_id = {repository_id: UUID} AND day >= toDate({from_day: UInt16}) AND day < toDate({to_day: UInt16})
GROUP BY day, commit_sha, pipeline_name, run_id, job_name, axes, run_attempt, on_default
HAVING sum(failed) > 0
